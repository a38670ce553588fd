"""Flags that several commands share, each explained once."""

from pathlib import Path
from typing import Annotated

import typer

Dataset = Annotated[
    str,
    typer.Option(
        "-d",
        "--dataset",
        help="starter (built in), verified, lite, full, multilingual, multimodal, any Hugging Face name, "
        "or a JSON, JSONL, parquet file or datasets folder.",
    ),
]
Split = Annotated[str, typer.Option(help="Split of a Hugging Face dataset or folder.")]
Instance = Annotated[list[str], typer.Option("-i", "--instance", help="Only this instance; repeatable.")]
Filter = Annotated[str | None, typer.Option("--filter", help="Only instances whose id matches this regex.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N of them.")]
SkipInvalid = Annotated[bool, typer.Option("--skip-invalid", help="Leave bad rows out, and say how many.")]
Sandbox = Annotated[str, typer.Option(help="auto, bubblewrap or docker.")]
Environments = Annotated[
    str,
    typer.Option(
        help="built (here, from recorded facts), published (images the rows name), or auto: published "
        "with Docker where rows name images, else built."
    ),
]
RepoUrl = Annotated[
    str, typer.Option(help="Where repositories are fetched from, with {owner} and {name}.", show_default=True)
]
BaseImage = Annotated[
    str | None,
    typer.Option(help="Base of built images: a name to pull, or host (made from this machine's packages)."),
]
Registry = Annotated[str | None, typer.Option(help="Registry published images are pulled from.")]
Namespace = Annotated[str | None, typer.Option(help="Namespace of published images.")]
Workers = Annotated[
    int | None, typer.Option("-j", "--workers", min=1, help="Evaluations at once (default: one a core).")
]
Timeout = Annotated[float, typer.Option(min=1, help="Seconds one evaluation may take.")]
Memory = Annotated[int, typer.Option(min=64, help="MiB one evaluation may use.")]
Output = Annotated[
    Path, typer.Option("-o", "--output", help="Directory of the store.", envvar="ASSAY_OUTPUT")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OUTPUT = Path("assay-results")
