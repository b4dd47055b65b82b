package check

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/render"
)

func (o *Options) renders() bool { return len(o.Kustomize) > 0 || len(o.Charts) > 0 }

// Given reports whether the flags name objects, so that no arguments are needed.
func (o *Options) Given() bool { return o.Cluster.On || o.renders() }

// render runs kustomize and helm.
func (o *Options) render(ctx context.Context) error {
	o.rendered = nil
	for _, folder := range o.Kustomize {
		out, err := render.Kustomize(ctx, folder)
		if err != nil {
			return fmt.Errorf("--kustomize %s: %w", folder, err)
		}
		o.rendered = append(o.rendered, out.Chunks()...)
	}
	for _, chart := range o.Charts {
		out, err := render.Helm(ctx, chart, o.Values)
		if err != nil {
			return fmt.Errorf("--helm %s: %w", chart, err)
		}
		o.rendered = append(o.rendered, out.Chunks()...)
	}
	return nil
}

func (o *Options) withRendered(source batch.Source) batch.Source {
	if len(o.rendered) == 0 {
		return source
	}
	return func(wait func(), yield func(input.Chunk) bool) {
		more := true
		source(wait, func(c input.Chunk) bool {
			more = yield(c)
			return more
		})
		for _, c := range o.rendered {
			if !more {
				return
			}
			more = yield(o.adjust.chunk(c))
		}
	}
}
