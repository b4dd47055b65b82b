package engine

import (
	"runtime"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/rule"
)

// minConcurrent is the number of expressions from which a second goroutine pays off. It needs its own
// scope and planner, which cost as much as compiling a few expressions.
const minConcurrent = 16

// compileConcurrently compiles the expressions of c.todo, half of them in a second goroutine if there is a second
// processor. Results are the same as without concurrency: the first half is compiled in order, and the
// second half is discarded if the total complexity would exceed the limit for all expressions. The
// rules then find their expressions already compiled.
func (c *compiler) compileConcurrently() {
	if runtime.GOMAXPROCS(0) < 2 {
		return
	}
	keys := c.keys()
	if len(keys) < minConcurrent {
		return
	}
	first, second := keys[:len(keys)/2], keys[len(keys)/2:]
	other := c.newExprs()
	var group sync.WaitGroup
	group.Go(func() { compileAll(other, second) })
	compileAll(c.exprs, first)
	group.Wait()
	c.exprs.Join(other)
}

// compileAll compiles keys until an error or a panic occurs. Neither is reported here, because
// compiling the rule itself meets it again.
func compileAll(exprs *rule.Compiler[*expr.Expr], keys []rule.Key) {
	defer func() { _ = recover() }()
	for _, key := range keys {
		if err := exprs.Prepare(key); err != nil {
			return
		}
	}
}

// keys returns the keys of the expressions that are not compiled yet, without duplicates, in order.
func (c *compiler) keys() (keys []rule.Key) {
	seen := map[rule.Key]bool{}
	add := func(key rule.Key) {
		if !seen[key] && !c.exprs.Knows(key) {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	for _, p := range c.todo {
		if p.node.noType != nil || strings.TrimSpace(p.rule.spec.Rule) == "" {
			continue
		}
		add(p.rule.key(p.node.decl, rule.Itself, p.rule.spec.Rule))
		if p.rule.spec.MessageExpression != "" {
			add(p.rule.key(p.node.decl, rule.Message, p.rule.spec.MessageExpression))
		}
	}
	return keys
}
