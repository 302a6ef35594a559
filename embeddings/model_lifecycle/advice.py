"""What to type: to go on with a model, and to change to another one."""

from dataclasses import replace

from embeddings.types import ModelSpec

COMMAND = "manage.py embedding_model"


def explain_mismatch(active: ModelSpec, named: ModelSpec) -> str:
    """Why nothing starts while the settings name another model than the one whose vectors are searched."""
    named = _distinct(named, active)
    return (
        f"The stored vectors are of {active}, but the settings name {named}. Vectors of two models cannot be "
        f"searched together. To change to {named.name}: {commands_to_change(named)} To go on with {active.name}: "
        f"{settings_to_follow(active)}"
    )


def _distinct(named: ModelSpec, active: ModelSpec) -> ModelSpec:
    """The same model in another size is kept under another name."""
    if named.name != active.name:
        return named
    options = tuple(sorted({**dict(named.options), "model": named.name}.items()))
    return replace(named, name=f"{named.name}-{named.dimensions}", options=options)


def commands_to_change(named: ModelSpec) -> str:
    """The commands, and that nothing has to run for them."""
    return (
        f"`{COMMAND} add {arguments_to_add(named)}`, `{COMMAND} build {named.name}` and "
        f"`{COMMAND} activate {named.name}`; they run with these settings too."
    )


def arguments_to_add(named: ModelSpec) -> str:
    """The words after `add`."""
    words = [named.name, "--provider", named.provider]
    for name, value in named.options:
        words += [f"--{name.replace('_', '-')}", _quoted(str(value))]
    return " ".join(words)


def settings_to_follow(active: ModelSpec) -> str:
    """How the environment names the model, or leaves it to the database."""
    return (
        f"set {environment_variables(active)}; or set none of KNOWLEX_EMBEDDER, KNOWLEX_EMBEDDING_MODEL, "
        "KNOWLEX_EMBEDDING_DIMENSIONS and OPENAI_API_KEY (which stands for KNOWLEX_EMBEDDER=openai): the "
        "active model is then used."
    )


def environment_variables(model: ModelSpec) -> str:
    """`NAME=value` for each variable that names the model."""
    options = dict(model.options)
    name = options.get("path") or options.get("model") or model.name
    values = {"KNOWLEX_EMBEDDER": model.provider, "KNOWLEX_EMBEDDING_MODEL": name}
    if model.provider != "local" and "dimensions" in options:
        values["KNOWLEX_EMBEDDING_DIMENSIONS"] = options["dimensions"]
    return " ".join(f"{variable}={_quoted(str(value))}" for variable, value in values.items())


def _quoted(value: str) -> str:
    return f'"{value}"' if not value or " " in value else value
