package assist

import "github.com/celadon-cel/celadon/engine"

// Advise returns the hint for an error, without looking for fixes.
func (p *Context) Advise(bad *engine.CompileError) Advice {
	f, ok := p.newFault(bad)
	if !ok {
		return Advice{}
	}
	return f.advise(bad.Summary())
}
