/* Search in pages opened from a disk: browsers do not allow workers there, so the script runs in a hidden frame. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = frame.contentDocument.createElement("script")
      script.src = url
      script.onload = () => {
        this.ready = true
        this.waiting.forEach(data => this.hand(data))
      }
      frame.contentDocument.body.append(script)
    }

    postMessage(data) {
      this.ready ? this.hand(data) : this.waiting.push(data)
    }

    hand(data) {
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }))
    }
  }
  window.Worker = window.IFrameWorker
}
