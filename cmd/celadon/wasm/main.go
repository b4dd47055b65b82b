//go:build js && wasm

// Command wasm is the engine of the playground in a browser. It runs in a Worker, which
// the page can terminate. The Worker calls celadon(bytes) with a request. The reply, the same as in
// celadon playground, is passed to celadonAnswer(text).
package main

import (
	"context"
	"syscall/js"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// A collection also scans 20 MB of tables, which takes tens of milliseconds. But the
// browser never gets memory back. Therefore garbage may be much larger than live
// memory, up to a limit that few CRDs reach.
const (
	garbagePercent = 400
	memoryLimit    = 48 << 20
)

func main() {
	gctuning.CollectSeldom(garbagePercent, memoryLimit)
	requests := make(chan []byte, 1)
	js.Global().Set("celadon", js.FuncOf(func(_ js.Value, args []js.Value) any {
		request := make([]byte, args[0].Length())
		js.CopyBytesToGo(request, args[0])
		// If the channel is full, sending must not block JavaScript's event loop.
		go func() { requests <- request }()
		return nil
	}))
	svc := service.New()
	js.Global().Call("celadonReady")
	for request := range requests {
		reply := svc.Answer(context.Background(), request)
		text := js.Global().Get("Uint8Array").New(len(reply))
		js.CopyBytesToJS(text, reply)
		js.Global().Call("celadonAnswer", text)
	}
}
