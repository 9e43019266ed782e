"""The only package that knows the order of the stages: align, bootstrapping, adding a KG."""
