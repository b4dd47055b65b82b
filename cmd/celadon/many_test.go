package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
)

// An excerpt for each cause would copy the object many times.
func TestManyCauses(t *testing.T) {
	t.Parallel()
	const causes = 5000
	env := strings.Repeat(`{"name": "lower", "value": "x"}, `, causes)
	object := fmt.Sprintf(`{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "a"},
"spec": {"schedule": "* * * * *", "image": "a:1", "replicas": 1, "env": [%s]}}`, strings.TrimSuffix(strings.ReplaceAll(env, `"lower"`, "1"), ", "))
	var out, stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(object), stdout: &out, stderr: &stderr}
	a.run(context.Background(), []string{"check", "--crd", crontabCRD, "-"})
	places, lines := strings.Count(out.String(), "\n  --> "), strings.Count(out.String(), "| ")
	if places < causes || lines == 0 || lines > 2*excerpt.Shown {
		t.Errorf("%d places and %d lines; %.600s%s", places, lines, &out, &stderr)
	}
}
