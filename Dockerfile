# Two stages: what is installed and built, then only that, run by an account without rights.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /app
COPY requirements.txt requirements-s3.txt ./
RUN pip install -r requirements.txt -r requirements-s3.txt
COPY . .
# The local embedding models are part of the image: a container needs no network to start.
RUN LOG_LEVEL=ERROR KNOWLEX_DATA_DIR=/tmp/build KNOWLEX_MODELS_DIR=/opt/models python manage.py build_model --all \
    && rm -rf /tmp/build && python -m compileall -q .

FROM python:3.11-slim
# Reads pages that are pictures; more languages: tesseract-ocr-deu and the like.
RUN apt-get update && apt-get install -y --no-install-recommends tesseract-ocr && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --user-group --home-dir /app --shell /usr/sbin/nologin knowlex \
    && install -d -o knowlex -g knowlex -m 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/models /opt/models
COPY --from=build /app /app
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    KNOWLEX_DATA_DIR=/data KNOWLEX_MODELS_DIR=/opt/models KNOWLEX_HOST=0.0.0.0 KNOWLEX_PORT=8080
WORKDIR /app
USER knowlex
VOLUME /data
EXPOSE 8080
# Bound to all addresses, the API asks for keys: docker exec CONTAINER python manage.py create_api_key NAME
CMD ["python", "manage.py", "up"]
