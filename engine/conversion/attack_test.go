package conversion_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/conversion"
)

// A report has an error for each object, so errors must stay short, wherever a hostile webhook puts a long text.
func TestAttackConverterErrors(t *testing.T) {
	t.Parallel()
	const most = 17 << 10
	long := strings.Repeat("é\x1b", 200_000)
	many := map[string]any{}
	for i := range 20_000 {
		many[fmt.Sprintf("k%d!", i)] = "v!"
	}
	for name, change := range map[string]func(review, response, object map[string]any){
		"message": func(_, response, _ map[string]any) {
			response["result"] = map[string]any{"status": "Failure", "message": long}
		},
		"status":      func(_, response, _ map[string]any) { response["result"] = map[string]any{"status": long} },
		"uid":         func(_, response, _ map[string]any) { response["uid"] = long },
		"kind":        func(review, _, _ map[string]any) { review["kind"] = long },
		"group":       func(review, _, _ map[string]any) { review["apiVersion"] = long + "/v1" },
		"no version":  func(_, _, object map[string]any) { object["apiVersion"] = long },
		"object kind": func(_, _, object map[string]any) { object["kind"] = long },
		"name":        func(_, _, object map[string]any) { object["metadata"].(map[string]any)["name"] = long },
		"labels":      func(_, _, object map[string]any) { object["metadata"].(map[string]any)["labels"] = many },
		"annotations": func(_, _, object map[string]any) { object["metadata"].(map[string]any)["annotations"] = many },
		"label value": func(_, _, object map[string]any) {
			object["metadata"].(map[string]any)["labels"] = map[string]any{"a": long}
		},
		"label type": func(_, _, object map[string]any) {
			object["metadata"].(map[string]any)["labels"] = map[string]any{long: 1}
		},
		"duplicates":   func(_, response, object map[string]any) { response["convertedObjects"] = []any{object, object} },
		"many objects": func(_, response, _ map[string]any) { response["convertedObjects"] = make([]struct{}, 1<<20) },
		"many values":  func(_, _, object map[string]any) { object["spec"] = make([]int, 1<<20) },
		"a number":     func(_, response, _ map[string]any) { response["convertedObjects"] = []any{1} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webhook(t, func(w http.ResponseWriter, req *http.Request) {
				var review map[string]any
				if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
					t.Error(err)
				}
				request := review["request"].(map[string]any)
				object := request["objects"].([]any)[0].(map[string]any)
				object["apiVersion"] = request["desiredAPIVersion"]
				response := map[string]any{"uid": request["uid"], "convertedObjects": []any{object}, "result": map[string]any{"status": "Success"}}
				answer := map[string]any{"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}
				change(answer, response, object)
				_ = json.NewEncoder(w).Encode(answer)
			})
			if _, err := ask(t, w, question("v1")); err == nil || len(err.Error()) > most {
				t.Errorf("got %.200v", err)
			}
		})
	}
	t.Run("a program", func(t *testing.T) {
		t.Parallel()
		c := conversion.Reviews(func(context.Context, []byte) ([]byte, error) { return nil, fmt.Errorf("%s: %w", long, io.EOF) })
		if _, err := c.Convert(t.Context(), question("v1")); err == nil || len(err.Error()) > most {
			t.Errorf("got %.200v", err)
		}
	})
}
