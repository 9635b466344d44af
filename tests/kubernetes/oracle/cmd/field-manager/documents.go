package main

const podDocument = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one","namespace":"default","labels":{"app":"web","tier":"front"},
  "annotations":{"note":"x"},"finalizers":["example.com/a","example.com/b"],
  "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"u1","controller":true},
                     {"apiVersion":"v1","kind":"Node","name":"n","uid":"u2"}]},
  "spec":{"containers":[{"name":"web","image":"web:1","args":["-a","-b"],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],
    "ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"},{"containerPort":443,"name":"https"}],
    "resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2"}},
    "securityContext":{"capabilities":{"add":["A"]},"runAsUser":7},
    "volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"tmp","mountPath":"/tmp"}]},
   {"name":"side","image":"side:1","env":[{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}],
   "initContainers":[{"name":"init","image":"init:1"}],
   "volumes":[{"name":"data","emptyDir":{}},{"name":"tmp","configMap":{"name":"c","items":[{"key":"k","path":"p"}]}},
              {"name":"more","secret":{"secretName":"s"}}],
   "tolerations":[{"key":"k","operator":"Exists"}],"nodeSelector":{"disk":"ssd"},
   "imagePullSecrets":[{"name":"one"},{"name":"two"}],
   "topologySpreadConstraints":[{"topologyKey":"zone","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}],
   "hostAliases":[{"ip":"10.0.0.1","hostnames":["a"]}],"restartPolicy":"Always","schedulingGates":[{"name":"g"}],
   "securityContext":{"sysctls":[{"name":"a","value":"b"}]}},
  "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}],
   "podIPs":[{"ip":"10.1.1.1"},{"ip":"fd00::1"}],"containerStatuses":[{"name":"web","ready":true,"restartCount":0}]}}`

const serviceDocument = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","labels":{"a":"b"}},
  "spec":{"selector":{"app":"web"},"ports":[{"name":"http","port":80,"protocol":"TCP","targetPort":8080},{"name":"tls","port":443,"targetPort":"https"}],
   "externalIPs":["1.1.1.1","2.2.2.2"],"ipFamilies":["IPv4"],"type":"ClusterIP","clusterIPs":["10.0.0.1"],
   "sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10}}},
  "status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]},"conditions":[{"type":"a","status":"True"}]}}`

const configDocument = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"a":"b","c":"d"},"annotations":{"e":"f"}},
  "data":{"one":"1","two":"2","three":"3"},"immutable":false}`

const nodeDocument = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"zone":"a"},"finalizers":["f","g"]},
  "spec":{"podCIDRs":["10.1.0.0/24","fd00::/64"],"taints":[{"key":"k","effect":"NoSchedule"}],"unschedulable":true},
  "status":{"addresses":[{"type":"InternalIP","address":"1.1.1.1"},{"type":"Hostname","address":"n"}],
   "capacity":{"cpu":"4","memory":"8Gi"},"conditions":[{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"False"}],
   "images":[{"names":["a","b"],"sizeBytes":5}],"nodeInfo":{"kernelVersion":"6"}}}`

const deploymentDocument = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"},"finalizers":["x","y","z"]},
  "spec":{"replicas":3,"selector":{"matchLabels":{"app":"d"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]},
   "strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"}},
   "template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[
     {"name":"a","image":"a:1","ports":[{"containerPort":1},{"containerPort":2}],"env":[{"name":"X","value":"1"}],
      "livenessProbe":{"httpGet":{"path":"/","port":80,"httpHeaders":[{"name":"h","value":"v"}]}}},
     {"name":"b","image":"b:1"},{"name":"c","image":"c:1","command":["x","y"]}],
     "volumes":[{"name":"v","hostPath":{"path":"/x"}},{"name":"w","emptyDir":{"medium":"Memory"}}],
     "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}}}}}},
  "status":{"replicas":3,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True"}]}}`
