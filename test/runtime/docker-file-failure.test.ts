import { expect, test } from 'vitest'
import { prepareDockerfile } from '../../server/runtime/docker-file.ts'
import { dockerfileFailure } from '../../server/runtime/docker-file-failure.ts'

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
const built = prepareDockerfile(text, { image: 'hf:1', ca: true, npmrc: true })
const lineIn = (file: string, part: string) => file.split('\n').findIndex((line) => line.startsWith(part)) + 1
const told = (message: string) => dockerfileFailure({ name: 'web/Dockerfile', text, built }, message, 512)

test.each([
  [`failed to create LLB definition: dockerfile parse error line ${lineIn(built, 'FOO')}: unknown instruction: FOO`, 8, 'unknown instruction: FOO'],
  [`dockerfile parse error on line ${lineIn(built, 'FOO')}: unknown instruction: FOO`, 8, 'unknown instruction: FOO'],
  ['executor failed running [/bin/sh -c echo one &&     exit 6]: exit code: 6', 3, 'exit code 6'],
  ["The command '/bin/sh -c echo one &&     exit 6' returned a non-zero code: 6", 3, 'exit code 6'],
  ['process "/bin/sh -c echo one &&     exit 6" did not complete successfully: exit code: 6', 3, 'exit code 6'],
  ['failed to compute cache key: "/nothing.txt" not found: not found', 7, 'nothing.txt'],
  ['COPY failed: file not found in build context or excluded by .dockerignore: stat nothing.txt: file does not exist', 7, 'nothing.txt'],
])('%s', (message, line, words) => {
  expect(told(message)).toMatchObject({ code: 'build_failed' })
  expect(told(message).message).toMatch(new RegExp(`^web/Dockerfile, line ${line}: .*${words}`))
})

test('an error without a line names the file alone', () => {
  expect(told('failed to solve with frontend dockerfile.v0: no build stage in current context').message).toBe(
    'web/Dockerfile: no build stage in current context.',
  )
})
