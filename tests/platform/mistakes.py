"""Wrong Runs, and the sentence that `codeflare compile` says of each."""

APPLICATION = {
    "api": "shell", "image": "debian", "command": "echo", "minMemory": "2Gi",
    "parameters": [
        {"name": "file", "position": 0, "required": True},
        {"name": "epochs", "type": "integer", "flag": "--epochs", "minimum": 1, "maximum": 10},
        {"name": "rate", "type": "number", "flag": "--rate"},
        {"name": "mode", "flag": "--mode", "enum": ["fast", "slow"]},
        {"name": "name", "flag": "--name", "pattern": "[a-z]+"},
        {"name": "quiet", "type": "boolean", "flag": "-q"},
        {"name": "tags", "type": "list", "flag": "--tag"},
    ],
    "inputs": [{"sizes": {"xs": "small", "lg": "large"}}],
}
FILE = {"file": "x"}
LIMITS = {"workers": {"maximum": 40}, "cpu": {"minimum": 1, "maximum": 64}}

# The Run's spec, changes of the Application's spec, the sentence behind file, document and object.
MISTAKES = [
    ({"application": {"name": "other"}}, {}, "spec.application: Application default/other does not exist"),
    ({"application": {"name": "app", "namespace": "elsewhere"}}, {}, "spec.application: Application elsewhere/app does not allow namespace default; its owner can add it to spec.allowedNamespaces"),
    ({"parameters": {}}, {}, "spec.parameters.file: Application default/app requires this parameter: a text; put it in quotes"),
    ({"parameters": {"file": 3}}, {}, "spec.parameters.file: expected a text; put it in quotes, got number"),
    ({"parameters": {**FILE, "epohcs": 1}}, {}, "spec.parameters.epohcs: Application default/app has no such parameter; did you mean epochs?"),
    ({"parameters": {**FILE, "epochs": "3"}}, {}, "spec.parameters.epochs: expected an integer such as 3, got string"),
    ({"parameters": {**FILE, "epochs": 2.5}}, {}, "spec.parameters.epochs: expected an integer such as 3, got number"),
    ({"parameters": {**FILE, "epochs": 0}}, {}, "spec.parameters.epochs: 0 is below the minimum 1"),
    ({"parameters": {**FILE, "epochs": 11}}, {}, "spec.parameters.epochs: 11 is above the maximum 10"),
    ({"parameters": {**FILE, "mode": "fats"}}, {}, "spec.parameters.mode: 'fats' is not one of the allowed values: fast, slow"),
    ({"parameters": {**FILE, "name": "A1"}}, {}, "spec.parameters.name: 'A1' does not match the pattern [a-z]+"),
    ({"parameters": {**FILE, "quiet": "yes"}}, {}, "spec.parameters.quiet: expected true or false, got string"),
    ({"parameters": {**FILE, "tags": "a"}}, {}, "spec.parameters.tags: expected a list such as [a, b], got string"),
    ({"parameters": {**FILE, "rate": "x"}}, {}, "spec.parameters.rate: expected a number such as 0.5, got string"),
    ({"options": "x --epoch 3"}, {}, "spec.options: Application default/app does not know the word '--epoch'; did you mean --epochs?"),
    ({"options": "x --epochs"}, {}, "spec.options: --epochs needs a value: an integer such as 3"),
    ({"options": "x --epochs many"}, {}, "spec.options: 'epochs': 'many' is not an integer; write a number such as 3"),
    ({"options": "x --rate 1 --rate 2"}, {}, "spec.options: 'rate' is given twice; remove one of them"),
    ({"options": "x y"}, {}, "spec.options: Application default/app does not know the word 'y'"),
    ({"options": "'x"}, {}, "spec.options: the quote ' at character 1 has no end"),
    ({"options": "x", "parameters": FILE}, {}, "spec.parameters.file: given here and in spec.options; remove one of them"),
    ({"parameters": FILE, "size": "huge"}, {}, "spec.size: size 'huge' is unknown"),
    ({"parameters": FILE, "size": "xxs"}, {}, "spec.size: size xxs is too small for Application default/app: memory 1536Mi, at least 2Gi needed; the smallest size that fits is xs"),
    ({"parameters": FILE, "size": "auto"}, {}, "spec.size: size auto is too small for Application default/app: memory none, at least 2Gi needed; the smallest size that fits is xs"),
    ({"parameters": FILE, "gpu": 1}, {}, "spec.gpu: needs spec.supportsGpu: true"),
    ({"parameters": FILE, "gpu": 1, "supportsGpu": True}, {}, "spec.gpu: Application default/app does not support GPUs"),
    ({"parameters": FILE, "priority": "urgent"}, {}, "spec.priority: 'urgent' is not one of low, normal and high"),
    ({"parameters": FILE, "input": "md"}, {}, "spec.input: Application default/app has no data of size 'md' in spec.inputs[0]; sizes: lg, xs"),
    ({"parameters": FILE, "input": "lg"}, {}, "Application default/app: spec.inputs[0]: DataSet default/large does not exist"),
    ({"parameters": FILE}, {"inputs": [{"name": "private", "namespace": "elsewhere"}]}, "Application default/app: spec.inputs[0]: DataSet elsewhere/private does not allow namespace default; its owner can add it to spec.allowedNamespaces"),
    ({"parameters": FILE}, {"repo": "main.py"}, "Application default/app: spec.repo: 'main.py' is not a URL of git; write https://HOST/ORG/REPO/tree/BRANCH/DIR, or https://HOST/ORG/REPO with ref and path"),
    ({"parameters": FILE}, {"progress": {"pattern": "done"}}, "Application default/app: spec.progress.pattern: 'done' has 0 groups; write one for the progress, or two: epoch, progress"),
    ({"parameters": FILE, "workers": 50}, {}, "spec.workers: 50 (from run) is above the limit 40 of RunPolicy limits"),
    ({"parameters": FILE, "size": "auto", "memory": "4Gi"}, {}, "spec.cpu: none (from built-in), but RunPolicy limits allows 1 to 64; set spec.cpu or choose another size"),
    ({"parameters": FILE, "sise": "xs"}, {}, "spec.sise: unknown field; did you mean size?"),
    ({"parameters": FILE, "workers": "two"}, {}, "spec.workers: expected a number, got a string"),
]
