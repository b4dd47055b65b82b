package engine

import (
	"runtime"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/engine/x/expr"
	"github.com/celadon-cel/celadon/engine/x/rule"
)

// minAhead is how many expressions are worth a second processor: a scope and a
// planner of its own cost as much as a few.
const minAhead = 16

// ahead compiles the expressions of the rules to be done, half of them on a second
// processor, where there is one. What comes of each is as without: the first half
// begins as it would alone, and the second is taken only where its complexity leaves
// the bound of all untouched. Rules find their expressions compiled then.
func (c *compiler) ahead() {
	if runtime.GOMAXPROCS(0) < 2 {
		return
	}
	keys := c.keys()
	if len(keys) < minAhead {
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

// compileAll compiles as far as there is no bug: the rule that meets it again tells.
func compileAll(exprs *rule.Compiler[*expr.Expr], keys []rule.Key) {
	defer func() { _ = recover() }()
	for _, key := range keys {
		if _, _, err := exprs.Compile(key); err != nil {
			return
		}
	}
}

// keys are those of the expressions that are not compiled yet, each once, in order.
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
