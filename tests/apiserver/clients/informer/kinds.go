package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

const kindsNamespace = "kinds"

func kinds(ctx context.Context, o options) error {
	c, err := open(o.kubeconfig)
	if err != nil {
		return err
	}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kindsNamespace}}
	if _, err := c.typed.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	steps := []struct {
		name string
		run  func(context.Context, *clients) error
	}{
		{"protobuf", speakProtobuf},
		{"conflicts", retryConflicts},
		{"apply", applyTyped},
		{"scale", scaleByDiscovery},
		{"events", recordEvents},
		{"collections", deleteCollection},
	}
	for _, step := range steps {
		if err := step.run(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	fmt.Printf("%d protobuf bodies\n", c.wire.seen("protobuf body"))
	return nil
}

func podSpec() corev1.PodSpec {
	port := corev1.ContainerPort{Name: "http", ContainerPort: 8080}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("http")}}}
	grace := int64(7)
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{
			Name: "main", Image: "busybox", Ports: []corev1.ContainerPort{port}, ReadinessProbe: probe,
			Resources: corev1.ResourceRequirements{Limits: limits},
			Env: []corev1.EnvVar{
				{Name: "PLAIN", Value: "ü€"},
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
			},
		}},
		Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}
}

// made checks one create: what the client sent must come back, in the create's answer and in a get.
func made[T any](sent, answer, got T, err error, part func(T) any) error {
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(part(sent), part(answer)) || !reflect.DeepEqual(part(answer), part(got)) {
		return fmt.Errorf("%T: sent %+v, answered %+v, got %+v", sent, part(sent), part(answer), part(got))
	}
	return nil
}

// speakProtobuf makes objects of many kinds; strings, numbers, quantities, maps, oneofs and bytes must survive the way there and back.
func speakProtobuf(ctx context.Context, c *clients) error {
	before := c.wire.seen("protobuf body")
	t, create, get := c.typed, metav1.CreateOptions{}, metav1.GetOptions{}
	name := metav1.ObjectMeta{Name: "sample", Namespace: kindsNamespace, Labels: map[string]string{"app": "sample"}, Annotations: map[string]string{"a/b": "c"}}

	pod := &corev1.Pod{ObjectMeta: name, Spec: podSpec()}
	pods := t.CoreV1().Pods(kindsNamespace)
	answer, err := pods.Create(ctx, pod, create)
	if err != nil {
		return err
	}
	got, err := pods.Get(ctx, "sample", get)
	if err := made(pod, answer, got, err, func(p *corev1.Pod) any {
		main := p.Spec.Containers[0]
		return []any{main.Env[0], main.Resources.Limits.Cpu().String(), main.Ports[0].ContainerPort, *p.Spec.TerminationGracePeriodSeconds, p.Labels, p.Annotations}
	}); err != nil {
		return err
	}

	secret := &corev1.Secret{ObjectMeta: name, Data: map[string][]byte{"bytes": {0, 1, 2, 255}}, Type: corev1.SecretTypeOpaque}
	secrets := t.CoreV1().Secrets(kindsNamespace)
	secretAnswer, err := secrets.Create(ctx, secret, create)
	if err != nil {
		return err
	}
	secretGot, err := secrets.Get(ctx, "sample", get)
	if err := made(secret, secretAnswer, secretGot, err, func(s *corev1.Secret) any { return s.Data }); err != nil {
		return err
	}

	service := &corev1.Service{ObjectMeta: name, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "sample"},
		Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "grpc", Port: 81, TargetPort: intstr.FromInt32(9000)}},
	}}
	serviceAnswer, err := t.CoreV1().Services(kindsNamespace).Create(ctx, service, create)
	if err != nil {
		return err
	}
	if serviceAnswer.Spec.ClusterIP == "" || serviceAnswer.Spec.Ports[1].TargetPort.IntValue() != 9000 || serviceAnswer.Spec.Ports[0].TargetPort.StrVal != "http" {
		return fmt.Errorf("service %+v", serviceAnswer.Spec)
	}

	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sample"}}
	always := podSpec()
	always.RestartPolicy = corev1.RestartPolicyAlways
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: always}
	deployment := &appsv1.Deployment{ObjectMeta: name, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
	if answer, err := t.AppsV1().Deployments(kindsNamespace).Create(ctx, deployment, create); err != nil {
		return err
	} else if *answer.Spec.Replicas != 1 || answer.Spec.Strategy.RollingUpdate.MaxSurge.StrVal != "25%" {
		return fmt.Errorf("deployment %+v", answer.Spec)
	}
	completions, mode := int32(3), batchv1.IndexedCompletion
	job := &batchv1.Job{ObjectMeta: name, Spec: batchv1.JobSpec{Completions: &completions, CompletionMode: &mode, Template: corev1.PodTemplateSpec{Spec: podSpec()}}}
	if answer, err := t.BatchV1().Jobs(kindsNamespace).Create(ctx, job, create); err != nil {
		return err
	} else if *answer.Spec.Completions != 3 || *answer.Spec.BackoffLimit != 6 {
		return fmt.Errorf("job %+v", answer.Spec)
	}
	role := &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	if _, err := t.RbacV1().Roles(kindsNamespace).Create(ctx, role, create); err != nil {
		return err
	}
	available := intstr.FromString("50%")
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: name, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &available, Selector: selector}}
	if _, err := t.PolicyV1().PodDisruptionBudgets(kindsNamespace).Create(ctx, budget, create); err != nil {
		return err
	}
	exact := networkingv1.PathTypeExact
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "sample", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	path := networkingv1.HTTPIngressPath{Path: "/", PathType: &exact, Backend: backend}
	rule := networkingv1.IngressRule{Host: "example.com", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}}}
	ingress := &networkingv1.Ingress{ObjectMeta: name, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{rule}}}
	if _, err := t.NetworkingV1().Ingresses(kindsNamespace).Create(ctx, ingress, create); err != nil {
		return err
	}
	if bodies := c.wire.seen("protobuf body") - before; bodies < 8 {
		return fmt.Errorf("%d protobuf bodies went out, expected one for each kind", bodies)
	}
	return nil
}

// retryConflicts: concurrent read-change-write loops lose nothing.
func retryConflicts(ctx context.Context, c *clients) error {
	maps := c.typed.CoreV1().ConfigMaps(kindsNamespace)
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}, Data: map[string]string{"n": ""}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	backoff := wait.Backoff{Duration: 5 * time.Millisecond, Factor: 1, Jitter: 4, Steps: 1000}
	err := parallel(64, func(int) error {
		return retry.RetryOnConflict(backoff, func() error {
			object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
			if err != nil {
				return err
			}
			object.Data["n"] += "+"
			_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
			return err
		})
	})
	if err != nil {
		return err
	}
	object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err == nil && len(object.Data["n"]) != 64 {
		err = fmt.Errorf("%d of 64 changes are there", len(object.Data["n"]))
	}
	return err
}

// applyTyped: apply configurations, conflicts between managers, and extraction of what one owns.
func applyTyped(ctx context.Context, c *clients) error {
	deployments := c.typed.AppsV1().Deployments(kindsNamespace)
	wanted := func(image string) *appsapply.DeploymentApplyConfiguration {
		container := coreapply.Container().WithName("main").WithImage(image)
		template := coreapply.PodTemplateSpec().WithLabels(map[string]string{"app": "applied"}).WithSpec(coreapply.PodSpec().WithContainers(container))
		selector := metaapply.LabelSelector().WithMatchLabels(map[string]string{"app": "applied"})
		return appsapply.Deployment("applied", kindsNamespace).WithSpec(appsapply.DeploymentSpec().WithSelector(selector).WithTemplate(template))
	}
	first, err := deployments.Apply(ctx, wanted("one"), metav1.ApplyOptions{FieldManager: "first"})
	if err != nil {
		return err
	}
	owned, err := appsapply.ExtractDeployment(first, "first")
	if err != nil {
		return err
	}
	if image := owned.Spec.Template.Spec.Containers[0].Image; image == nil || *image != "one" || owned.Spec.Replicas != nil {
		return fmt.Errorf("the first owns %+v", owned.Spec)
	}
	if _, err := deployments.Apply(ctx, wanted("two"), metav1.ApplyOptions{FieldManager: "second"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("expected a conflict: %v", err)
	}
	second, err := deployments.Apply(ctx, wanted("two"), metav1.ApplyOptions{FieldManager: "second", Force: true})
	if err == nil && second.Spec.Template.Spec.Containers[0].Image != "two" {
		err = fmt.Errorf("forced, and the image is %s", second.Spec.Template.Spec.Containers[0].Image)
	}
	return err
}

// scaleByDiscovery: the way of the horizontal pod autoscaler, from a kind to its scale.
func scaleByDiscovery(ctx context.Context, c *clients) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	scales, err := scale.NewForConfig(c.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client))
	if err != nil {
		return err
	}
	resource := mapping.Resource.GroupResource()
	current, err := scales.Scales(kindsNamespace).Get(ctx, resource, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	current.Spec.Replicas = 5
	if _, err := scales.Scales(kindsNamespace).Update(ctx, resource, current, metav1.UpdateOptions{}); err != nil {
		return err
	}
	changed, err := c.typed.AppsV1().Deployments(kindsNamespace).GetScale(ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if changed.Spec.Replicas != 5 || changed.Status.Selector != "app=applied" {
		return fmt.Errorf("scale %+v", *changed)
	}
	if _, known := any(changed).(*autoscalingv1.Scale); !known {
		return fmt.Errorf("scale is a %T", changed)
	}
	_, err = client.ServerPreferredResources()
	return err
}

// recordEvents: the broadcaster of controllers makes one event and counts its repetitions.
func recordEvents(ctx context.Context, c *clients) error {
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.typed.CoreV1().Events(kindsNamespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "client-go-check"})
	pod, err := c.typed.CoreV1().Pods(kindsNamespace).Get(ctx, "sample", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for range 5 {
		recorder.Event(pod, corev1.EventTypeNormal, "Checked", "the pod was looked at")
	}
	return eventually(ctx, func() error {
		chosen := metav1.ListOptions{FieldSelector: "involvedObject.name=sample,reason=Checked"}
		events, err := c.typed.CoreV1().Events(kindsNamespace).List(ctx, chosen)
		if err != nil {
			return err
		}
		if len(events.Items) != 1 || events.Items[0].Count != 5 {
			return fmt.Errorf("%d events of five repetitions", len(events.Items))
		}
		return nil
	})
}

func deleteCollection(ctx context.Context, c *clients) error {
	secrets := c.typed.CoreV1().Secrets(kindsNamespace)
	zero := int64(0)
	if err := secrets.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &zero}, metav1.ListOptions{LabelSelector: "app=sample"}); err != nil {
		return err
	}
	if _, err := secrets.Get(ctx, "sample", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the secret is there: %v", err)
	}
	background := metav1.DeletePropagationBackground
	return c.typed.CoreV1().Namespaces().Delete(ctx, kindsNamespace, metav1.DeleteOptions{PropagationPolicy: &background})
}
