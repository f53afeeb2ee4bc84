/** A Dockerfile for the app of each language in `test/deployments/language-apps.ts`, as a developer writes it. Each serves on 8080. */
export const writtenDockerfiles: Record<string, string> = {
  node: `FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production PORT=8080
COPY package.json ./
RUN npm install --omit=dev
COPY . .
USER node
EXPOSE 8080
CMD ["node", "server.js"]
`,
  python: `FROM python:3.11-bookworm
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
USER 1000:1000
EXPOSE 8080
CMD ["gunicorn", "--bind", "0.0.0.0:8080", "app:app"]
`,
  'python-plain': `FROM python:3.11-bookworm
WORKDIR /app
ENV PORT=8080
COPY . .
USER 1000:1000
EXPOSE 8080
CMD ["python", "main.py"]
`,
  go: `FROM golang:1.19-bookworm AS build
WORKDIR /src
COPY go.mod ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -o /shop ./cmd/shop

FROM debian:bookworm-slim
COPY --from=build /shop /usr/local/bin/shop
ENV PORT=8080
USER 1000:1000
EXPOSE 8080
CMD ["shop"]
`,
  rust: `FROM rust:1.63-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /src/target/release/my-shop /usr/local/bin/my-shop
ENV PORT=8080
USER 1000:1000
EXPOSE 8080
CMD ["my-shop"]
`,
  ruby: `FROM ruby:3.1-bookworm
WORKDIR /app
COPY Gemfile ./
RUN bundle install --local
COPY . .
ENV HOME=/tmp APP_ENV=production
USER 1000:1000
EXPOSE 8080
CMD ["bundle", "exec", "ruby", "app.rb", "-o", "0.0.0.0", "-p", "8080"]
`,
  'ruby-rack': `FROM ruby:3.1-bookworm
WORKDIR /app
COPY Gemfile ./
RUN bundle install --local
COPY . .
ENV HOME=/tmp RACK_ENV=production
USER 1000:1000
EXPOSE 8080
CMD ["bundle", "exec", "rackup", "-o", "0.0.0.0", "-p", "8080"]
`,
  php: `FROM php:8.2-apache-bookworm
RUN sed -i 's/^Listen 80$/Listen 8080/' /etc/apache2/ports.conf && printf '<VirtualHost *>\\n  DocumentRoot /var/www/html\\n</VirtualHost>\\n' > /etc/apache2/sites-available/000-default.conf
COPY --chown=1000:1000 . /var/www/html/
USER 1000:1000
EXPOSE 8080
CMD ["apache2-foreground"]
`,
  java: `FROM maven:3-eclipse-temurin-17 AS build
WORKDIR /src
COPY . .
RUN mkdir -p target && javac -d target/classes src/main/java/Main.java && jar cfe target/app.jar Main -C target/classes .

FROM eclipse-temurin:17-jre
COPY --from=build /src/target/app.jar /app/app.jar
ENV PORT=8080
USER 1000:1000
EXPOSE 8080
CMD ["java", "-jar", "/app/app.jar"]
`,
  elixir: `FROM elixir:1.14
ENV MIX_ENV=prod LANG=C.UTF-8 MIX_HOME=/opt/mix
WORKDIR /src
COPY . .
RUN mix compile && mix release --path /app && chown -R 1000:1000 /app
WORKDIR /app
ENV PORT=8080 HOME=/tmp RELEASE_DISTRIBUTION=none
USER 1000:1000
EXPOSE 8080
CMD ["bin/shop", "start"]
`,
  deno: `FROM denoland/deno:2
WORKDIR /app
COPY . .
RUN deno cache main.ts
ENV PORT=8080 HOME=/tmp
USER 1000:1000
EXPOSE 8080
CMD ["deno", "run", "--allow-net", "--allow-env", "main.ts"]
`,
  bun: `FROM oven/bun:1
WORKDIR /app
COPY package.json ./
RUN bun install --production
COPY . .
ENV PORT=8080 HOME=/tmp
USER 1000:1000
EXPOSE 8080
CMD ["bun", "index.ts"]
`,
}
