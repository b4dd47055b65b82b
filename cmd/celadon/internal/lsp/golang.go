package lsp

import "context"

// goState is what is known of the Go packages of a trusted workspace.
type goState struct{}

func (s *server) goRound(context.Context) {}

func (v *view) goExpression(int) *expression { return nil }
