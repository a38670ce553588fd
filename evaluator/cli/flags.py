"""Flags that several commands share, each explained once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Backend = Literal["auto", "bubblewrap", "docker"]
Source = Literal["auto", "built", "published"]

Dataset = Annotated[
    str,
    typer.Option(
        "-d",
        "--dataset",
        metavar="SET",
        help="starter (built in), verified, lite, full, multilingual, multimodal, any Hugging Face name, "
        "or a JSON, JSONL, parquet file or datasets folder.",
    ),
]
Split = Annotated[str, typer.Option(metavar="NAME", help="Split of a Hugging Face dataset or folder.")]
Instance = Annotated[
    list[str], typer.Option("-i", "--instance", metavar="ID", help="Only this instance; repeatable.")
]
Filter = Annotated[
    str | None,
    typer.Option("--filter", metavar="REGEX", help="Only instances in whose id this is found."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N of them.")]
SkipInvalid = Annotated[bool, typer.Option("--skip-invalid", help="Leave bad rows out, and say how many.")]
Samples = Annotated[int, typer.Option("-n", "--samples", min=1, metavar="N", help="Attempts per task.")]
Sandbox = Annotated[Backend, typer.Option(help="Where tests run; auto takes the first that works.")]
Environments = Annotated[
    Source,
    typer.Option(
        help="built: here, from recorded facts. published: images the rows name. auto: published with Docker "
        "where rows name images, else built."
    ),
]
RepoUrl = Annotated[
    str, typer.Option(metavar="URL", help="Where repositories are fetched from, with {owner} and {name}.")
]
BaseImage = Annotated[
    str | None,
    typer.Option(
        metavar="IMAGE",
        help="Base of built images: one to pull, or host (made of this machine's packages).",
    ),
]
Registry = Annotated[
    str | None, typer.Option(metavar="HOST", help="Registry published images are pulled from.")
]
Namespace = Annotated[str | None, typer.Option(metavar="NAME", help="Namespace of published images.")]
Workers = Annotated[
    int | None,
    typer.Option("-j", "--workers", min=1, metavar="N", help="Evaluations at once (default: one a core)."),
]
Timeout = Annotated[float, typer.Option(min=1, metavar="SECONDS", help="What one evaluation may take.")]
Memory = Annotated[int, typer.Option(min=64, metavar="MIB", help="What one evaluation may use.")]
Output = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="DIR", file_okay=False, help="Where runs are kept.", envvar="ASSAY_OUTPUT"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OUTPUT = Path("assay-results")
