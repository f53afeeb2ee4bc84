import { expect } from 'vitest'
import type { Requirement } from '../support/requirements.ts'
import type { DeploymentContext } from './deployment-suite.ts'

export interface LanguageCase {
  name: string
  /** The toolchain that builds it without Docker; null if it needs packages of a registry. */
  tool: Requirement | 'npm' | null
  framework: string
  files(text: string): Record<string, string>
  settings?: { install_command?: string; build_command?: string }
}

/** A small web app per language, in the versions of Debian's packages and without dependencies from a registry. */
export const languageCases: LanguageCase[] = [
  {
    name: 'python',
    tool: null,
    framework: 'flask',
    files: (text) => ({
      '.python-version': '3.11\n',
      'requirements.txt': 'flask\ngunicorn\n',
      'app.py': `from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.get("/")\ndef index():\n    return "${text}"\n`,
    }),
  },
  {
    name: 'python-plain',
    tool: 'python',
    framework: 'python',
    files: (text) => ({
      '.python-version': '3.11\n',
      'main.py': `import http.server, os\n\nclass Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200)\n        self.end_headers()\n        self.wfile.write(b"${text}")\n\nhttp.server.ThreadingHTTPServer(("0.0.0.0", int(os.environ["PORT"])), Handler).serve_forever()\n`,
    }),
  },
  {
    name: 'go',
    tool: 'go',
    framework: 'go',
    files: (text) => ({
      'go.mod': 'module example.com/shop\n\ngo 1.19\n',
      'cmd/shop/main.go': `package main\n\nimport (\n\t"fmt"\n\t"net/http"\n\t"os"\n)\n\nfunc main() {\n\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "${text}") })\n\tif err := http.ListenAndServe(":"+os.Getenv("PORT"), nil); err != nil {\n\t\tpanic(err)\n\t}\n}\n`,
    }),
  },
  {
    name: 'rust',
    tool: 'rust',
    framework: 'rust',
    files: (text) => ({
      'Cargo.toml': '[package]\nname = "my-shop"\nversion = "0.1.0"\nedition = "2021"\nrust-version = "1.63"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "my-shop"\nversion = "0.1.0"\n',
      'src/main.rs': `use std::io::{Read, Write};\n\nfn main() {\n    let port = std::env::var("PORT").unwrap();\n    let listener = std::net::TcpListener::bind(format!("0.0.0.0:{port}")).unwrap();\n    for stream in listener.incoming() {\n        let mut stream = stream.unwrap();\n        let _ = stream.read(&mut [0; 4096]);\n        let text = "${text}";\n        let _ = write!(stream, "HTTP/1.1 200 OK\\r\\nContent-Length: {}\\r\\nConnection: close\\r\\n\\r\\n{text}", text.len());\n    }\n}\n`,
    }),
  },
  {
    name: 'ruby',
    // Debian's gem of Sinatra is incomplete for a Bundler outside of the images.
    tool: null,
    framework: 'sinatra',
    settings: { install_command: 'bundle install --local' },
    files: (text) => ({
      '.ruby-version': '3.1\n',
      Gemfile: "source 'https://rubygems.org'\ngem 'sinatra'\ngem 'webrick'\n",
      'app.rb': `require 'sinatra'\n\nget('/') { '${text}' }\n`,
    }),
  },
  {
    name: 'ruby-rack',
    tool: 'ruby',
    framework: 'ruby',
    settings: { install_command: 'bundle install --local' },
    files: (text) => ({
      '.ruby-version': '3.1\n',
      Gemfile: "source 'https://rubygems.org'\ngem 'rack'\ngem 'webrick'\n",
      'config.ru': `run ->(_env) { [200, { 'Content-Type' => 'text/plain' }, ['${text}']] }\n`,
    }),
  },
  {
    name: 'php',
    tool: 'php',
    framework: 'php',
    files: (text) => ({ '.php-version': '8.2\n', 'index.php': `<?php echo '${text}';` }),
  },
  {
    name: 'java',
    tool: 'java',
    framework: 'java',
    // Maven's own plugins come only from its registry.
    settings: {
      build_command: 'mkdir -p target && javac -d target/classes src/main/java/Main.java && jar cfe target/app.jar Main -C target/classes .',
    },
    files: (text) => ({
      'pom.xml': '<project><modelVersion>4.0.0</modelVersion><properties><java.version>17</java.version></properties></project>',
      'src/main/java/Main.java': `import com.sun.net.httpserver.HttpServer;\nimport java.net.InetSocketAddress;\n\npublic class Main {\n  public static void main(String[] args) throws Exception {\n    var server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);\n    server.createContext("/", exchange -> {\n      var body = "${text}".getBytes();\n      exchange.sendResponseHeaders(200, body.length);\n      exchange.getResponseBody().write(body);\n      exchange.close();\n    });\n    server.start();\n  }\n}\n`,
    }),
  },
  {
    name: 'elixir',
    tool: 'elixir',
    framework: 'elixir',
    files: (text) => ({
      '.tool-versions': 'elixir 1.14\n',
      'mix.exs':
        'defmodule Shop.MixProject do\n  use Mix.Project\n  def project, do: [app: :shop, version: "0.1.0"]\n  def application, do: [extra_applications: [:logger], mod: {Shop, []}]\nend\n',
      'lib/shop.ex': `defmodule Shop do\n  use Application\n\n  def start(_type, _args) do\n    {:ok, socket} = :gen_tcp.listen(String.to_integer(System.fetch_env!("PORT")), [:binary, packet: :http_bin, active: false, reuseaddr: true])\n    Task.start_link(fn -> accept(socket) end)\n    Supervisor.start_link([], strategy: :one_for_one)\n  end\n\n  defp accept(socket) do\n    {:ok, client} = :gen_tcp.accept(socket)\n    :gen_tcp.recv(client, 0)\n    :gen_tcp.send(client, "HTTP/1.1 200 OK\\r\\nContent-Length: ${text.length}\\r\\nConnection: close\\r\\n\\r\\n${text}")\n    :gen_tcp.close(client)\n    accept(socket)\n  end\nend\n`,
    }),
  },
  {
    name: 'deno',
    tool: 'npm',
    framework: 'deno',
    files: (text) => ({
      'deno.json': '{}',
      'main.ts': `Deno.serve({ port: Number(Deno.env.get('PORT')), hostname: '0.0.0.0' }, () => new Response('${text}'))\n`,
    }),
  },
  {
    name: 'bun',
    tool: 'npm',
    framework: 'bun',
    files: (text) => ({
      'package.json': '{"name": "shop", "private": true, "scripts": {"start": "bun index.ts"}}',
      'index.ts': `Bun.serve({ port: process.env.PORT, hostname: '0.0.0.0', fetch: () => new Response('${text}') })\n`,
    }),
  },
]

/** From its source to a response, and again after a one-line change. */
export async function deployTwice(context: DeploymentContext, { name: language, framework, files, settings }: LanguageCase): Promise<void> {
  const name = `lang-${language}`
  const repository = await context.projectWith(name, files('first'))
  if (settings) await context.platform.api('PATCH', `/v1/projects/${name}`, settings)
  const deployment = await context.deployAndWait(name)
  expect(deployment.error, deployment.build_log).toBeNull()
  expect(deployment.framework).toBe(framework)
  expect(await context.platform.fetchEdge(`${name}.localhost`)).toMatchObject({ status: 200, body: 'first' })
  repository.commit(files('second'))
  await context.deployReady(name)
  expect((await context.platform.fetchEdge(`${name}.localhost`)).body).toBe('second')
}
