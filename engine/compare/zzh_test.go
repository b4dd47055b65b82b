package compare_test
import ("testing";"os";"time";"fmt";"context";"path/filepath";"sort"
"k8s.io/apimachinery/pkg/util/version"
"encoding/json"
"github.com/celadon-cel/celadon/engine/compare"
)
func TestZZHistory(t *testing.T){
 for _,g:=range []string{"gateway-api","gateway-api-experimental","karpenter"}{
 dirs,_:=filepath.Glob("/work/shared/history/"+g+"/v*")
 sort.Slice(dirs,func(i,j int)bool{return version.MustParseSemantic(filepath.Base(dirs[i])).LessThan(version.MustParseSemantic(filepath.Base(dirs[j])))})
 for i:=1;i<len(dirs);i++{
  files,_:=filepath.Glob(dirs[i-1]+"/*.yaml")
  for _,f:=range files{
   n:=filepath.Join(dirs[i],filepath.Base(f))
   if _,err:=os.Stat(n);err!=nil{continue}
   t0:=time.Now()
   r,err:=compare.CRDs(context.Background(),zzread(t,f),zzread(t,n),compare.Config{})
   if err!=nil{fmt.Println("ERR",f,err);continue}
   count:=map[string]int{}
   for _,c:=range r.Changes{count[string(c.Effect)+"/"+string(c.By)]++}
   fmt.Printf("== %s %s->%s %s %v %v\n",g,filepath.Base(dirs[i-1]),filepath.Base(dirs[i]),filepath.Base(f),count,time.Since(t0).Round(time.Millisecond))
   cut:=func(s string)string{ if len(s)>300{return s[:300]+"…"};return s}
   for _,c:=range r.Changes{
    if c.Effect=="equivalent"&&os.Getenv("ALL")==""{continue}
    fmt.Printf("   %-10s %-8s %s %v %s %s: %q -> %q | %s %s searched %d\n",c.Effect,c.By,c.Version,c.Also,c.Path,c.What,cut(c.Old),cut(c.New),c.Proof,cut(c.Reason),c.Searched)
  if w:=c.Refused;w!=nil{ j,_:=json.Marshal(w.Object);fmt.Printf("      refused %s create=%s changed=%s unchanged=%s %s\n",w.Operation,w.Create,w.ChangedUpdate,w.UnchangedUpdate,cut(string(j)))
   for _,x:=range w.Causes{fmt.Println("        ",x.Field,cut(x.Message))}
   for _,x:=range w.Kept{fmt.Println("        ",x.Path,x.Before,x.After)}
  }
   }
  }
 }}
}
