"""The text of the part of docs/scale.md about Wikidata's size; benchmarks/capacity_page.py fills in the numbers."""

TEXT = """
The size: 5 KGs, each of 100 million entities, 1.5 billion triples and 10,000 relations. Nothing of this size was run. The
tasks of a run with {run.kgs} x {run.entities:,} entities and {run.triples:,} triples per KG were measured one by one
(`benchmarks/stages.py`), scaled as the code says that each stage grows, and simulated on nodes with 16 cores, 128 GB and
1.25 GB/s of network, and shared storage of 20 GB/s in all (`benchmarks/cluster_simulation.py`; other nodes: options).

Two checks. The measured run itself, simulated on one node with {run.threads} cores, takes {again:.0f} s; it took
{own_seconds:.0f} s, without the {run.waited:.0f} s in which its main thread waited for a processor that other programs
had: {again_difference:+.0%}. From a run with {smaller.kgs} x {smaller.entities:,} entities, {predicted:.0f} CPU seconds
are predicted for the larger one, which took {predicted_of:.0f}: more than linear, as more of what is read lies outside
the caches of the processor, which other programs used as well. The table below is linear. If CPU seconds went on to grow
with entities ** {exponent:.2f}, as between these two, they would be {faster_cpu:,.0f} hours instead of {cpu_hours:,.0f},
and 100 nodes would take {faster:,.0f} hours. Measured growth over more sizes is above.

### Hours at this size
{stages}

GB of a task: its peak without mapped files, of which the system can give pages back; what is there at any size is told
from what grows by the two measured runs. Paths through three third KGs count as three times those through one, which is
more than they take. Bound by: on the largest cluster. Stages end one after the other, and nothing
is kept on nodes from task to task.

{hours}

Machines, as the code is: a driver with {driver:,.0f} GB of memory, and {pairs} nodes with {largest:,.0f} GB, one for each
pair of KGs. More nodes help `searching` and `comparing` only, until the storage gives no more.

If 100 million entities and 1.5 billion triples are those of all KGs together, 100 nodes take {in_all:,.1f} hours.

### Traffic at this size
- A block of 131,072 candidates is compared with all candidates of the other KG: `comparing` reads their embeddings,
  {candidates:,.1f} million x {run.width:,} bytes = {embeddings:,.0f} GB, in each of {blocks:,} tasks of {rounds} rounds:
  {comparing:,.0f} TB, {comparing_share:.0%} of the time on 100 nodes. This grows with the square of the entities. Larger
  blocks would read them less often: the embeddings of a block take {block:,.1f} GB, a task may use {task_memory:,.0f} GB.
- `searching` reads the index of the other KG, {index:,.1f} GB, in each of {search_blocks:,} tasks: {searching:,.0f} TB. All
  indexes together, {indexes:,.0f} GB, may stay in the memory of a node, which the simulation does not count.
- Without both, 100 nodes would take {without_hours:,.1f} hours, bound by single tasks and by the driver.
- On average the storage gives {storage_rate:,.1f} GB/s to 100 nodes.

### Memory at this size
| what | arithmetic | GB |
|---|---|---|
| states of a KG while marks flow, a task | 2 x 100 million x {run.dimensions} x 2 bytes | {states:,.0f} |
| what has flowed, a shard per KG | 100 million x (2 x {run.dimensions} + {run.dimensions} / 2) x 2 bytes | {flow:,.0f} |
| embeddings, a shard per KG | 100 million x {run.width:,} bytes | {embedding:,.0f} |
| embeddings of all KGs, one shard that the driver writes | 5 x | {joint:,.0f} |
| edges, a shard per KG: tails and relations | 2 x 1.5 billion x 8 bytes | {edges:,.0f} |
| triples in the driver, twice: in given and in canonical order | 2 x 5 x 1.5 billion x 12 bytes | 2 x {triples:,.0f} |
| the largest task, measured and scaled | see the table of stages | {largest:,.0f} |
| the driver at its peak, measured and scaled | see the table of stages | {driver:,.0f} |

The driver holds all KGs: ids, triples in two orders, groups, one Python text for the id of each group. Its own work takes
{driver_hours:,.1f} hours, in which all nodes wait.

### Disk at this size
{disk}

In all {disk_total:,.1f} TB at the moment when shards take most, without the data set. Scores of all rounds stay, so that
an interrupted run can go on.

### What breaks first
Where memory is the limit: nodes of 128 GB, and bytes per entity of one KG, with 5 KGs and 15 triples per entity.
The key of an edge: 100,000,000 x 100,000,000 x 2 x 10,000 = {key:.0e}, and 64 bits hold 9.2e18.

{limits}

Not in the simulation: names and attributes, which are not compared by tasks; evaluating, which compares held-out entities in the driver and keeps their shards in its memory
(leave nothing held out at this size); more rounds than the {rounds} of the measured run, with the final one; the time to
start tasks; page caches of nodes; nodes that are lost.

Made by `python benchmarks/capacity_page.py`; stored results: `experiments/results/stages-100k.json` and `stages-50k.json`.
"""  # noqa: E501 (rows of tables)
