package assist

import "github.com/google/cel-go/cel"

// Compiled compiles an expression.
func (p *Context) Compiled(src string) (*cel.Ast, error) {
	x, err := p.compile(src)
	if err != nil {
		return nil, err
	}
	return x.AST(), nil
}
