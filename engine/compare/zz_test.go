package compare_test
import ("testing";"os";"time";"fmt";"context"
"encoding/json"
apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
"sigs.k8s.io/yaml"
"github.com/celadon-cel/celadon/engine/compare"
)
func zzread(t *testing.T,f string)*apiextensionsv1.CustomResourceDefinition{
 data,err:=os.ReadFile(f)
 if err!=nil{t.Fatal(err)}
 j,_:=yaml.YAMLToJSON(data)
 crd:=&apiextensionsv1.CustomResourceDefinition{}
 if err:=json.Unmarshal(j,crd);err!=nil{t.Fatal(err)}
 return crd
}
func TestZZ(t *testing.T){
 t0:=time.Now()
 r,err:=compare.CRDs(context.Background(),zzread(t,os.Getenv("OLD")),zzread(t,os.Getenv("NEW")),compare.Config{})
 if err!=nil{t.Fatal(err)}
 cut:=func(s string)string{ if len(s)>150{return s[:150]+"…"};return s}
 for _,c:=range r.Changes{
  fmt.Printf("%-10s %-8s %s %v %s %s: %q -> %q | %s %s searched %d\n",c.Effect,c.By,c.Version,c.Also,c.Path,c.What,cut(c.Old),cut(c.New),c.Proof,cut(c.Reason),c.Searched)
  if w:=c.Refused;w!=nil{ j,_:=json.Marshal(w.Object);fmt.Printf("      refused %s create=%s changed=%s unchanged=%s %s\n",w.Operation,w.Create,w.ChangedUpdate,w.UnchangedUpdate,cut(string(j)))
   for _,x:=range w.Causes{fmt.Println("        ",x.Field,cut(x.Message))}
   for _,x:=range w.Kept{fmt.Println("        ",x.Path,x.Before,x.After)}
  }
  if w:=c.Admitted;w!=nil{ j,_:=json.Marshal(w.Object);fmt.Printf("      admitted %s\n",cut(string(j)))}
 }
 fmt.Println(time.Since(t0))
}
