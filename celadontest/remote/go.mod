module github.com/celadon-cel/celadon/celadontest/remote

go 1.21
