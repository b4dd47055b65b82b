// Conversion converts CronTabs between the versions in crd.yaml. It reads a ConversionReview from
// standard input and writes its response to standard output. The same function can serve a
// conversion webhook over HTTPS.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
)

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID               string           `json:"uid"`
	DesiredAPIVersion string           `json:"desiredAPIVersion"`
	Objects           []map[string]any `json:"objects"`
}

type response struct {
	UID              string           `json:"uid"`
	ConvertedObjects []map[string]any `json:"convertedObjects"`
	Result           result           `json:"result"`
}

type result struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

func main() {
	var r review
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil || r.Request == nil {
		log.Fatalf("no ConversionReview: %v", err)
	}
	r.Response = answer(r.Request)
	r.Request = nil
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		log.Fatal(err)
	}
}

func answer(req *request) *response {
	out := &response{UID: req.UID, Result: result{Status: "Success"}}
	for _, obj := range req.Objects {
		if err := convert(obj, req.DesiredAPIVersion); err != nil {
			return &response{UID: req.UID, Result: result{"Failure", err.Error()}}
		}
		out.ConvertedObjects = append(out.ConvertedObjects, obj)
	}
	return out
}

// convert changes obj to apiVersion: v1beta1 has hostPort, v1 has host and port.
func convert(obj map[string]any, apiVersion string) error {
	obj["apiVersion"] = apiVersion
	spec, ok := obj["spec"].(map[string]any)
	if !ok {
		return nil
	}
	if strings.HasSuffix(apiVersion, "/v1") {
		if hostPort, ok := spec["hostPort"].(string); ok {
			host, port, ok := strings.Cut(hostPort, ":")
			if !ok {
				return fmt.Errorf("hostPort %q: want HOST:PORT", hostPort)
			}
			delete(spec, "hostPort")
			spec["host"], spec["port"] = host, port
		}
		return nil
	}
	host, hasHost := spec["host"]
	port, hasPort := spec["port"]
	if hasHost && hasPort {
		spec["hostPort"] = fmt.Sprint(host, ":", port)
	}
	delete(spec, "host")
	delete(spec, "port")
	return nil
}
