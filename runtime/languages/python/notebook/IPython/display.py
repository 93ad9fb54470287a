"""Replaces `IPython.display` in a session: objects that define their display, and functions that show them.

Names and parameters are those of IPython 8.
"""

import base64
import html
import io
import json
import mimetypes
import os
import struct
import urllib.parse
import urllib.request
import wave

import _skillcell_bridge

__all__ = """Audio Code DisplayHandle DisplayObject FileLink FileLinks GeoJSON HTML IFrame Image JSON Javascript Latex Markdown Math
Pretty ProgressBar SVG ScribdDocument TextDisplayObject Video VimeoVideo YouTubeVideo clear_output display display_html
display_javascript display_jpeg display_json display_latex display_markdown display_pdf display_png display_pretty display_svg
publish_display_data set_matplotlib_close set_matplotlib_formats update_display""".split()


def publish_display_data(data, metadata=None, **_keywords):
    """Show one object in the given forms."""
    _skillcell_bridge.put_forms(data)


def display(
    *objs, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, **_keywords
):
    """Show values. With a display id, return a handle that shows another value: here after the first one, not in its place."""
    for value in objs:
        if raw:
            publish_display_data(value)
        else:
            _skillcell_bridge.show_forms(value, include, exclude)
    if display_id is None or display_id is False:
        return None
    return DisplayHandle(None if display_id is True else display_id)


def update_display(obj, *, display_id, **keywords):
    display(obj, **keywords)


def clear_output(wait=False):
    """Do nothing: a result has already been sent."""


def set_matplotlib_formats(*_formats, **_keywords):
    """Do nothing: figures are always PNG."""


def set_matplotlib_close(close=True):
    """Do nothing: figures are closed at the end of each run."""


class DisplayHandle:
    def __init__(self, display_id=None):
        self.display_id = display_id or base64.b16encode(os.urandom(16)).decode().lower()

    def __repr__(self):
        return f"<{type(self).__name__} display_id={self.display_id}>"

    def display(self, obj, **keywords):
        display(obj, **keywords)

    def update(self, obj, **keywords):
        display(obj, **keywords)


class DisplayObject:
    """An object shown in one form, given as data, as a file or as an address."""

    _read_flags = "r"

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if isinstance(data, os.PathLike):
            data = os.fspath(data)
        if isinstance(data, str) and url is None and data.startswith("http"):
            data, url = None, data
        elif isinstance(data, str) and filename is None and _is_file(data):
            data, filename = None, data
        self.data = data
        self.url = url
        self.filename = None if filename is None else os.fspath(filename)
        self.metadata = metadata or {}
        self.reload()
        self._check_data()

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"

    def _check_data(self):
        pass

    def reload(self):
        if self.filename is not None:
            encoding = None if "b" in self._read_flags else "utf-8"
            with open(self.filename, self._read_flags, encoding=encoding) as file:
                self.data = file.read()
        elif self.url is not None:
            with urllib.request.urlopen(self.url) as answer:
                data = answer.read()
            self.data = data if "b" in self._read_flags else data.decode(answer.headers.get_content_charset("utf-8"))


class TextDisplayObject(DisplayObject):
    def _check_data(self):
        if self.data is not None and not isinstance(self.data, str):
            raise TypeError(f"{type(self).__name__} expects text, not {self.data!r}")


class Pretty(TextDisplayObject):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.data}


class HTML(TextDisplayObject):
    def _repr_html_(self):
        return self.data

    def __html__(self):
        return self.data


class Markdown(TextDisplayObject):
    def _repr_markdown_(self):
        return self.data


class Latex(TextDisplayObject):
    def _repr_latex_(self):
        return self.data


class Math(TextDisplayObject):
    def _repr_latex_(self):
        return f"$\\displaystyle {self.data.strip('$')}$"


class SVG(DisplayObject):
    def _repr_svg_(self):
        text = self.data.decode() if isinstance(self.data, bytes) else self.data
        start, end = text.find("<svg"), text.rfind("</svg>")
        return text[start : end + len("</svg>")] if 0 <= start < end else text


class Javascript(TextDisplayObject):
    def __init__(self, data=None, url=None, filename=None, lib=None, css=None):
        self.lib = [lib] if isinstance(lib, str) else list(lib or [])
        self.css = [css] if isinstance(css, str) else list(css or [])
        super().__init__(data=data, url=url, filename=filename)

    def _repr_javascript_(self):
        return self.data


class JSON(DisplayObject):
    _media_type = "application/json"

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **keywords):
        super().__init__(data=data, url=url, filename=filename, metadata={"expanded": expanded, "root": root, **(metadata or {})})

    def _check_data(self):
        if isinstance(self.data, str):
            self.data = json.loads(self.data)
        if self.data is not None and not isinstance(self.data, (dict, list)):
            raise TypeError(f"{type(self).__name__} expects JSONable dict or list, not {self.data!r}")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self._media_type: self.data}


class GeoJSON(JSON):
    _media_type = "application/geo+json"


class Image(DisplayObject):
    _read_flags = "rb"
    _ENDINGS = {"jpg": "jpeg", "jpe": "jpeg"}
    _SIGNATURES = {b"\x89PNG\r\n": "png", b"\xff\xd8": "jpeg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}

    def __init__(
        self,
        data=None,
        url=None,
        filename=None,
        format=None,
        embed=None,
        width=None,
        height=None,
        retina=False,
        unconfined=False,
        metadata=None,
        alt=None,
    ):
        is_address = url is not None or isinstance(data, str) and data.startswith("http")
        self.embed = not is_address if embed is None else embed
        self.width, self.height, self.alt = width, height, alt
        super().__init__(data=data, url=url, filename=filename, metadata=metadata)
        if self.data is None and self.url is None:
            raise ValueError("No image data found. Expecting filename, url, or data.")
        if self.embed and not isinstance(self.data, (bytes, bytearray, memoryview)):
            raise TypeError(f"Image expects bytes, the name of a file or an address, got {self.data!r:.100}")
        self.format = (format or self._format()).lower()
        self.format = self._ENDINGS.get(self.format, self.format)

    def reload(self):
        if self.embed or self.filename is not None:
            super().reload()

    def _format(self):
        if isinstance(self.data, (bytes, bytearray, memoryview)):
            for signature, name in self._SIGNATURES.items():
                if bytes(self.data[: len(signature)]) == signature:
                    return name
        return (self.filename or self.url or "").rpartition(".")[2] or "png"

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.embed:
            return {"image/svg+xml" if self.format == "svg" else f"image/{self.format}": bytes(self.data)}
        return {"text/html": f"<img src={_quoted(self.url)}{_attributes(width=self.width, height=self.height, alt=self.alt)}/>"}


class _Media(DisplayObject):
    """Sound or video, as an HTML element."""

    _read_flags = "rb"
    _default_type = "application/octet-stream"

    def _address(self, mimetype):
        if self.data is None:
            return self.url
        named = mimetypes.guess_type(self.filename or "")[0]
        data = self.data.encode() if isinstance(self.data, str) else bytes(self.data)
        return f"data:{mimetype or named or self._default_type};base64,{base64.b64encode(data).decode()}"


class Video(_Media):
    _default_type = "video/mp4"

    def __init__(
        self, data=None, url=None, filename=None, embed=False, mimetype=None, width=None, height=None, html_attributes="controls"
    ):
        self.mimetype, self.width, self.height, self.html_attributes = mimetype, width, height, html_attributes
        super().__init__(data=data, url=url, filename=filename)

    def reload(self):
        if self.filename is not None:
            super().reload()

    def _repr_html_(self):
        size = _attributes(width=self.width, height=self.height)
        return f"<video src={_quoted(self._address(self.mimetype))} {self.html_attributes}{size}></video>"


class Audio(_Media):
    _default_type = "audio/wav"

    def __init__(self, data=None, filename=None, url=None, embed=None, rate=None, autoplay=False, normalize=True, *, element_id=None):
        self.autoplay, self.element_id = autoplay, element_id
        super().__init__(data=data, url=url, filename=filename)
        if self.data is not None and not isinstance(self.data, (bytes, str)):
            if rate is None:
                raise ValueError("rate must be specified when data is a numpy array or list of audio samples.")
            self.data = _wave_of(self.data, rate, normalize)

    def reload(self):
        if self.filename is not None:
            super().reload()

    def _repr_html_(self):
        options = " autoplay" if self.autoplay else ""
        return f"<audio{_attributes(id=self.element_id)} controls{options} src={_quoted(self._address(None))}></audio>"


class IFrame:
    def __init__(self, src, width, height, extras=None, **params):
        self.src, self.width, self.height, self.extras, self.params = src, width, height, extras or [], params

    def _repr_html_(self):
        query = "?" + urllib.parse.urlencode(self.params) if self.params else ""
        size = _attributes(width=self.width, height=self.height)
        return f"<iframe{size} src={_quoted(self.src + query)} frameborder=\"0\" allowfullscreen {' '.join(self.extras)}></iframe>"


class _Embedded(IFrame):
    _address = ""

    def __init__(self, id, width=400, height=300, **keywords):
        self.id = id
        super().__init__(self._address.format(id), width, height, **keywords)


class YouTubeVideo(_Embedded):
    _address = "https://www.youtube.com/embed/{}"


class VimeoVideo(_Embedded):
    _address = "https://player.vimeo.com/video/{}"


class ScribdDocument(_Embedded):
    _address = "https://www.scribd.com/embeds/{}/content"


class FileLink:
    def __init__(self, path, url_prefix="", result_html_prefix="", result_html_suffix="<br>"):
        self.path, self.url_prefix = os.fspath(path), url_prefix
        self.result_html_prefix, self.result_html_suffix = result_html_prefix, result_html_suffix

    def __repr__(self):
        return os.path.abspath(self.path)

    def _repr_html_(self):
        address = _quoted(self.url_prefix + self.path)
        link = f"<a href={address} target='_blank'>{html.escape(self.path)}</a>"
        return f"{self.result_html_prefix}{link}{self.result_html_suffix}"


class FileLinks(FileLink):
    def _repr_html_(self):
        names = sorted(os.path.join(folder, name) for folder, _, files in os.walk(self.path) for name in files)
        return "".join(FileLink(name, self.url_prefix)._repr_html_() for name in names)


class Code(TextDisplayObject):
    def __init__(self, data=None, url=None, filename=None, language=None):
        self.language = language
        super().__init__(data=data, url=url, filename=filename)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.data, "text/html": f"<pre><code>{html.escape(self.data)}</code></pre>"}


class ProgressBar(DisplayObject):
    def __init__(self, total):
        self.total, self._progress = total, 0
        self.html_width = "60ex"

    def __repr__(self):
        filled = int(60 * self._progress / self.total) if self.total else 60
        return f"[{'=' * filled}{' ' * (60 - filled)}] {self._progress}/{self.total}"

    def _repr_html_(self):
        return f"<progress style='width:{self.html_width}' max='{self.total}' value='{self._progress}'></progress>"

    def display(self):
        display(self)

    def update(self):
        display(self)

    @property
    def progress(self):
        return self._progress

    @progress.setter
    def progress(self, value):
        self._progress = value

    def __iter__(self):
        self._progress = -1
        self.display()
        return self

    def __next__(self):
        self._progress += 1
        if self._progress < self.total:
            return self._progress
        self.update()
        raise StopIteration


def _shows(media_type):
    def show(*objs, raw=False, metadata=None):
        for value in objs:
            if raw:
                publish_display_data({media_type: value})
            else:
                display(value, include=["text/plain", media_type])

    return show


display_pretty = _shows("text/plain")
display_html = _shows("text/html")
display_markdown = _shows("text/markdown")
display_svg = _shows("image/svg+xml")
display_png = _shows("image/png")
display_jpeg = _shows("image/jpeg")
display_latex = _shows("text/latex")
display_json = _shows("application/json")
display_javascript = _shows("application/javascript")
display_pdf = _shows("application/pdf")


def _is_file(text):
    try:
        return os.path.isfile(text)
    except (OSError, ValueError):
        # Not a file name: too long, or it contains a NUL.
        return False


def _quoted(text):
    return f'"{html.escape(text)}"'


def _attributes(**values):
    return "".join(f" {name}={_quoted(str(value))}" for name, value in values.items() if value is not None)


def _wave_of(samples, rate, normalize):
    """Samples of one channel, or of several channels with one row each, as a WAV file."""
    rows = [list(map(float, row)) for row in samples] if len(samples) and hasattr(samples[0], "__len__") else [list(map(float, samples))]
    highest = max((abs(sample) for row in rows for sample in row), default=0)
    if not normalize and highest > 1:
        raise ValueError("Audio data must be between -1 and 1 when normalize=False.")
    scale = 32767 / (highest if normalize and highest else 1)
    frames = [int(sample * scale) for frame in zip(*rows) for sample in frame]
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setnchannels(len(rows))
        audio.setsampwidth(2)
        audio.setframerate(rate)
        audio.writeframes(struct.pack(f"<{len(frames)}h", *frames))
    return file.getvalue()
