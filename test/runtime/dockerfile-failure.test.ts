import { expect, test } from 'vitest'
import { prepareDockerfile } from '../../server/runtime/docker/dockerfile.ts'
import { explainDockerfileFailure, LostLayerFailure } from '../../server/runtime/docker/dockerfile-failure.ts'

const text = [
  '# syntax=example/1',
  'FROM a AS build',
  'RUN echo one && \\',
  '    exit 6',
  '',
  'FROM b',
  'COPY ["./pages", "nothing.txt", "/x/"]',
  'FOO bar',
].join('\n')
const built = prepareDockerfile(text, { mounts: { image: 'hf:1', ca: true, npmrc: true }, generation: '4711' })
const lineIn = (file: string, part: string) => file.split('\n').findIndex((line) => line.startsWith(part)) + 1
const explain = (message: string) => explainDockerfileFailure({ name: 'web/Dockerfile', text, built }, message, 512)

test.each([
  [`failed to create LLB definition: dockerfile parse error line ${lineIn(built, 'FOO')}: unknown instruction: FOO`, 8, 'unknown instruction: FOO'],
  [`dockerfile parse error on line ${lineIn(built, 'FOO')}: unknown instruction: FOO`, 8, 'unknown instruction: FOO'],
  ['executor failed running [/bin/sh -c echo one &&     exit 6]: exit code: 6', 3, 'exit code 6'],
  ["The command '/bin/sh -c echo one &&     exit 6' returned a non-zero code: 6", 3, 'exit code 6'],
  ['process "/bin/sh -c echo one &&     exit 6" did not complete successfully: exit code: 6', 3, 'exit code 6'],
  ['failed to compute cache key: "/nothing.txt" not found: not found', 7, 'nothing.txt is not in the source, or .dockerignore excludes it\\.$'],
  [
    'failed to compute cache key: failed to calculate checksum of ref a::b: "/nothing.txt": not found',
    7,
    'nothing.txt is not in the source, or .dockerignore excludes it\\.$',
  ],
  [
    'COPY failed: file not found in build context or excluded by .dockerignore: stat nothing.txt: file does not exist',
    7,
    'nothing.txt is not in the source, or .dockerignore excludes it\\.$',
  ],
])('%s', (message, line, words) => {
  expect(explain(message)).toMatchObject({ code: 'build_failed' })
  expect(explain(message).message).toMatch(new RegExp(`^web/Dockerfile, line ${line}: .*${words}`))
})

test('a command of a generated Dockerfile is quoted, because the user has not seen its lines', () => {
  const text = 'FROM golang:1.22\nRUN go build .\n'
  const message = 'executor failed running [/bin/sh -c go build .]: exit code: 1'
  expect(explainDockerfileFailure({ name: null, text, built: text }, message, 512).message).toBe('`go build .` ended with exit code 1.')
})

test('an image used only by COPY --from is reported with its line', () => {
  const text = 'FROM php:8.4-apache\nCOPY --from=composer:2 /usr/bin/composer /usr/bin/composer\n'
  const message =
    'failed to load cache key: failed to do request: Head "https://registry.example/v2/library/composer/manifests/2": dial tcp: lookup registry.example: no such host'
  expect(explainDockerfileFailure({ name: 'Dockerfile', text, built: text }, message, 512).message).toBe(
    'Dockerfile, line 2: the base image composer:2 is not on this machine, and its registry could not be reached (no such host).',
  )
})

test.each([
  ['manifest for node:99 not found: manifest unknown: manifest unknown', 'node:99', 'does not exist'],
  ["pull access denied for web, repository does not exist or may require 'docker login': denied: requested access", 'web', 'does not exist'],
  ['failed to solve: node:99: docker.io/library/node:99: not found', 'node:99', 'does not exist'],
  [
    'Get "https://registry.example/v2/": dial tcp: lookup registry.example on 10.0.0.1:53: no such host',
    'node:99',
    'could not be reached (no such host)',
  ],
  ['failed to do request: Head "https://registry.example/v2/node": dial tcp: connect: connection refused', 'node:99', 'could not be reached'],
  ['toomanyrequests: You have reached your pull rate limit', 'node:99', 'denied access'],
])('an unavailable base image: %s', (message, image, words) => {
  const from = `# a comment\nFROM --platform=linux/amd64 ${image} AS build\nRUN true\nFROM build\n`
  const failure = explainDockerfileFailure({ name: 'Dockerfile', text: from, built: from }, message, 512)
  expect(failure.message).toMatch(new RegExp(`^Dockerfile, line 2: the base image ${image} `))
  expect(failure.message).toContain(words)
})

test('an error without a line names only the file', () => {
  expect(explain('failed to solve with frontend dockerfile.v0: no build stage in current context').message).toBe(
    'web/Dockerfile: no build stage in current context.',
  )
})

test.each([
  'failed to export image: failed to set parent sha256:1: unknown parent image ID sha256:1',
  'failed to get digest sha256:1: open /var/lib/docker/image/overlay2/imagedb/content/sha256/1: no such file or directory',
  'unable to find image "sha256:1"',
])('a layer that was removed meanwhile: %s', (message) => {
  expect(explainDockerfileFailure({ name: null, text: 'FROM a', built: 'FROM a' }, message, 512)).toBeInstanceOf(LostLayerFailure)
})
