package trace

import (
	"context"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace/record"
)

// Why returns the Values of Explain with the largest allowance.
func (x *Explainer) Why(ctx context.Context, seen *engine.Prepared, causes []engine.Cause) (whys [][]Value, err error) {
	all, err := x.Explain(ctx, seen, causes, record.MaxObjectWork)
	for _, cause := range all.Causes {
		whys = append(whys, cause.Values)
	}
	return whys, err
}
