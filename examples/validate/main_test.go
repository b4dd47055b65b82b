package main

import (
	"context"
	"fmt"
	"os"
)

func Example_validate() {
	rejected, err := validate(context.Background(), os.Stdout, os.DirFS("../crontab"), os.DirFS("../crontab/objects"))
	fmt.Println(rejected, err)
	// Output:
	// bad.yaml: CronTab.stable.example.com "too-many" is invalid: spec.replicas: Invalid value: replicas is 20, more than maxReplicas: 10
	// bad.yaml: CronTab.stable.example.com "sloppy" is invalid: [spec: Invalid value: a suspended CronTab must have no replicas, spec.env: Invalid value: names must be upper case, spec.schedule: Invalid value: "@daily": must have five fields]
	// 2 <nil>
}
