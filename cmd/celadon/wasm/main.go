//go:build js && wasm

// Command wasm is the engine for the page in a browser: it runs in a Worker, which
// a page can end. It gives the Worker a function celadon(bytes), which answers as
// celadon playground does, by a call of celadonAnswer(text).
package main

import (
	"context"
	"syscall/js"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// A collection looks at 20 MB of tables too, and takes tens of milliseconds of a
// person's time; but a browser's memory is never given back. So garbage may be much
// more than what is in use, up to a limit that few CRDs reach.
const (
	garbagePercent = 400
	memoryLimit    = 48 << 20
)

func main() {
	gctuning.Seldom(garbagePercent, memoryLimit)
	requests := make(chan []byte, 1)
	js.Global().Set("celadon", js.FuncOf(func(_ js.Value, args []js.Value) any {
		request := make([]byte, args[0].Length())
		js.CopyBytesToGo(request, args[0])
		// What waits must not wait in JavaScript's own turn.
		go func() { requests <- request }()
		return nil
	}))
	room := service.NewRoom()
	js.Global().Call("celadonReady")
	for request := range requests {
		reply := room.Answer(context.Background(), request)
		text := js.Global().Get("Uint8Array").New(len(reply))
		js.CopyBytesToJS(text, reply)
		js.Global().Call("celadonAnswer", text)
	}
}
