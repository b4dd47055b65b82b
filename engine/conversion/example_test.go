package conversion_test

import (
	"context"
	"fmt"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
)

// A controller that has its conversion as a Go function can validate objects without a webhook.
// Pass the Converter to [engine.Config].
func Example() {
	c := conversion.Func(func(_ context.Context, obj map[string]any, apiVersion string) (map[string]any, error) {
		spec := obj["spec"].(map[string]any)
		spec["schedule"] = spec["cron"]
		delete(spec, "cron")
		obj["apiVersion"] = apiVersion
		return obj, nil
	})
	old := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Job", "metadata": map[string]any{"name": "nightly"},
		"spec": map[string]any{"cron": "0 3 * * *"},
	}
	obj, err := c.Convert(context.Background(), engine.Conversion{Object: old, APIVersion: "example.com/v2"})
	fmt.Println(obj["apiVersion"], obj["spec"], err)
	// Output: example.com/v2 map[schedule:0 3 * * *] <nil>
}
