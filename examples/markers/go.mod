module example.com/markers

go 1.26

require k8s.io/apimachinery v0.37.2
