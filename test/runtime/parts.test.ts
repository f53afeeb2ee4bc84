import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFrameReader, encodeField, encodeFrame } from '../../server/runtime/docker/protobuf.ts'
import { decodeBuildKitStatus } from '../../server/runtime/docker/buildkit-status.ts'
import { connectToDocker, findDockerAddresses, rejectAfter } from '../../server/runtime/docker/connection.ts'
import { isConnectionError } from '../../server/runtime/docker/errors.ts'
import { ensureLargeNetwork } from '../../server/runtime/docker/networks.ts'
import { isOutsideLink } from '../../server/runtime/docker/build-context.ts'
import { addLabels, prepareDockerfile, needsBuildKit } from '../../server/runtime/docker/dockerfile.ts'
import { createContainerOutput } from '../../server/runtime/docker/stream-demuxer.ts'
import { createDockerIgnore } from '../../server/lib/docker-ignore.ts'
import { streamBuildOutput } from '../../server/runtime/docker/build-progress.ts'
import { createLineSplitter } from '../../server/runtime/line-splitter.ts'
import { parseListeningSockets } from '../../server/runtime/ports.ts'
import { runtimeOptions } from '../support/runtime.ts'
import { createTestClock, fixedClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const split = (chunks: Buffer[], cap?: number): string[] => {
  const lines: string[] = []
  const splitter = createLineSplitter((line) => lines.push(line), cap)
  for (const chunk of chunks) splitter.write(chunk)
  splitter.end()
  return lines
}

test('a hanging engine counts as unreachable, a refused request does not', async () => {
  const clock = fixedClock('2026-01-01')
  const error = rejectAfter(1_000, new Promise(() => {}), clock).catch((reason: unknown) => reason)
  await clock.advance(1_000)
  expect(isConnectionError(await error)).toBe(true)
  expect(isConnectionError(Object.assign(new Error('ECONNREFUSED in a build step'), { statusCode: 500 }))).toBe(false)
})

test.each([
  'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network',
  'all predefined address pools have been fully subnetted',
])('the network of the instance gets one of our ranges when Docker has none left: %s', async (message) => {
  const subnets: (string | undefined)[] = []
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const { IPAM } = JSON.parse(body) as { IPAM?: { Config: { Subnet: string }[] } }
      subnets.push(IPAM?.Config[0]?.Subnet)
      const [status, answer] =
        subnets.length === 1
          ? [500, { message }]
          : subnets.length === 2
            ? [403, { message: 'Pool overlaps with other one on this address space' }]
            : [201, { Id: 'n' }]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const docker = new Docker({ protocol: 'http', host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    await ensureLargeNetwork(docker, { Name: 'homeport-x' })
  } finally {
    server.close()
  }
  expect(subnets).toEqual([undefined, expect.stringMatching(/^10\.212\.\d+\.0\/22$/), expect.stringMatching(/^10\.212\.\d+\.0\/22$/)])
  expect(subnets[1]).not.toBe(subnets[2])
})

describe('lines', () => {
  test('are the same wherever the bytes are split', () => {
    const text = Buffer.from('ä€😀\r\n\n\u001b[1mb\u001b[0m\nlast')
    const whole = ['ä€😀\r', '', '\u001b[1mb\u001b[0m', 'last']
    for (let size = 1; size <= text.length; size++) {
      const chunks = []
      for (let at = 0; at < text.length; at += size) chunks.push(text.subarray(at, at + size))
      expect(split(chunks)).toEqual(whole)
    }
  })

  test('over the limit are split between characters, with nothing lost', () => {
    const text = '€'.repeat(1_000)
    const lines = split([Buffer.from(`${text}\nend\n`)], 100)
    expect(lines.slice(0, -1).join('')).toBe(text)
    expect(lines.at(-1)).toBe('end')
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(100)
    expect(split([Buffer.alloc(1_000, 0x80)], 100)).toHaveLength(10)
  })

  test('over the limit are split between words, so that secrets in them are still masked', () => {
    for (let before = 40; before < 140; before++) {
      const text = `${'x'.repeat(before)} {"token":"sentinel+of/30=characters"} ${'y'.repeat(90)}`
      const lines = split([Buffer.from(text)], 100)
      expect(lines.join('')).toBe(text)
      expect(
        lines.filter((line) => line.includes('sentinel+of/30=characters')),
        String(before),
      ).toHaveLength(1)
    }
  })
})

describe('frames of the engine’s log stream', () => {
  const frame = (stream: 1 | 2, text: string) => {
    const data = Buffer.from(text)
    const head = Buffer.alloc(8)
    head[0] = stream
    head.writeUInt32BE(data.length, 4)
    return Buffer.concat([head, data])
  }
  const all = Buffer.concat([frame(1, 'one\ntw'), frame(2, 'bad\n'), frame(1, 'o\nthree\n'), frame(1, 'four')])

  test('are complete wherever they are split', () => {
    for (let size = 1; size <= all.length; size++) {
      const lines: string[] = []
      const output = createContainerOutput((stream, line) => lines.push(`${stream} ${line}`))
      const scanner = output.createLiveReader()
      for (let at = 0; at < all.length; at += size) scanner.write(all.subarray(at, at + size))
      output.end()
      expect(lines).toEqual(
        ['stderr bad', 'stdout one', 'stdout two', 'stdout three', 'stdout four'].toSorted((a, b) => lines.indexOf(a) - lines.indexOf(b)),
      )
      expect(lines).toHaveLength(5)
    }
  })

  test('missing from a live stream are filled in from the full log, each byte once', () => {
    for (let cut = 0; cut <= all.length; cut++) {
      const lines: string[] = []
      const output = createContainerOutput((_stream, line) => lines.push(line))
      output.createLiveReader().write(all.subarray(0, cut))
      output.createFullReader().write(all)
      output.createFullReader().write(all)
      output.end()
      expect(lines.toSorted()).toEqual(['bad', 'four', 'one', 'three', 'two'])
    }
  })
})

describe('a Dockerfile', () => {
  test('loses its syntax directive, and keeps its escape directive', () => {
    const prepared = prepareDockerfile('# syntax=evil\n# escape=`\nFROM a\n', { mounts: null, generation: null })
    expect(prepared).toBe('# escape=`\n# Built by Homeport.\n# syntax=evil\n# escape=`\nFROM a\n')
    expect(prepareDockerfile('\uFEFF# syntax=evil\nFROM a', { mounts: null, generation: null }).split('\n')[0]).toBe('# Built by Homeport.')
  })

  test('mounts the host’s files in each RUN, and in nothing else', () => {
    const text = [
      'ARG V=1',
      'FROM a AS b',
      '# RUN no',
      'RUN one \\',
      '  # RUN comment',
      '  RUN two',
      'run ["x"]',
      'COPY <<EOF /f',
      'RUN not me',
      'EOF',
      'RUN <<-"END"',
      'RUN nor me',
      '\tEND',
      'FROM b',
      'RUN\tlast',
      'CMD ["RUN"]',
    ].join('\n')
    const prepared = prepareDockerfile(text, { mounts: { image: 'hf:1', ca: true, npmrc: false }, generation: null })
    const mount = '--mount=type=bind,from=hf:1,source=/ca.crt,target=/dev/shm/homeport/ca.crt'
    const argument = 'ARG NODE_EXTRA_CA_CERTS=/dev/shm/homeport/ca.crt'
    expect(prepared.split('\n').slice(1)).toEqual([
      'ARG V=1',
      'FROM a AS b',
      argument,
      '# RUN no',
      `RUN ${mount} one \\`,
      '  # RUN comment',
      '  RUN two',
      `run ${mount} ["x"]`,
      'COPY <<EOF /f',
      'RUN not me',
      'EOF',
      `RUN ${mount} <<-"END"`,
      'RUN nor me',
      '\tEND',
      'FROM b',
      argument,
      `RUN ${mount}\tlast`,
      'CMD ["RUN"]',
    ])
  })

  test.each([
    ['FROM a\nRUN --mount=type=cache,target=/x true', true],
    ['FROM a\nCOPY --link . .', true],
    ['FROM a\nRUN <<EOF\nx\nEOF', true],
    ['FROM a\nCOPY --from=b . .\nRUN echo "a --mount"', false],
  ])('requires BuildKit: %j', (text, expected) => {
    expect(needsBuildKit(text)).toBe(expected)
  })

  test.each([
    ['FROM a\nCOPY x .\nRUN b\nCOPY \\\n . .\nRUN c', 'FROM a\nCOPY x .\nRUN b\nLABEL l="1"\nCOPY \\\n . .\nRUN c'],
    ['FROM a AS b\nCOPY . .\nFROM c\nADD --chown=1 x .', 'FROM a AS b\nCOPY . .\nFROM c\nLABEL l="1"\nADD --chown=1 x .'],
    ['FROM a AS b\nCOPY . .\nFROM c', 'FROM a AS b\nCOPY . .\nFROM c\nLABEL l="1"\n'],
    // A later LABEL of the same name would win.
    ['FROM a\nCOPY . .\nLABEL l=2', 'FROM a\nCOPY . .\nLABEL l=2\nLABEL l="1"\n'],
    ['FROM a\nRUN echo \\\nCOPY . .', 'FROM a\nRUN echo \\\nCOPY . .\nLABEL l="1"\n'],
  ])('labels come before the last copy of the last stage: %j', (text, expected) => {
    expect(addLabels(text, { l: '1' })).toBe(expected)
  })

  test('labels are appended as an instruction, unless the last line continues', () => {
    const labels = { 'homeport.role': 'image', 'homeport.project': 'a"$b' }
    expect(addLabels('FROM a', labels)).toBe('FROM a\nLABEL homeport.role="image" homeport.project="a\\"\\$b"\n')
    for (const text of ['FROM a\nRUN b \\', 'FROM a\nRUN b \\\n\n# c\n', '# escape=`\nFROM a\nRUN b `\r\n', '# Built by Homeport.\n'])
      expect(addLabels(text, labels)).toBeNull()
  })
})

test.each([
  ['node_modules', ['node_modules', 'node_modules/a/b'], ['a/node_modules', 'node_modules2']],
  ['**/node_modules', ['node_modules', 'a/b/node_modules/c'], ['a/modules']],
  ['*.md\n!README.md', ['a.md'], ['README.md', 'docs/a.md']],
  ['*\n!src/**', ['a', 'b/c'], ['src/a', 'src/b/c']],
  ['# comment\n\n/a/\n./b', ['a/x', 'b'], ['c']],
  ['a?c\n[xy].txt', ['abc', 'x.txt'], ['ac', 'z.txt', 'a/c']],
  ['docs/**/*.png', ['docs/a.png', 'docs/x/y/a.png'], ['docs/a.jpg', 'a.png']],
])('.dockerignore %j', (text, out, kept) => {
  const accepts = createDockerIgnore(text)
  expect(out.filter((path) => accepts(path, false))).toEqual([])
  expect(kept.filter((path) => !accepts(path, false))).toEqual([])
})

test.each([
  ['a/b', '../c', false],
  ['a/b', '../../c', true],
  ['a', '/etc/passwd', true],
  ['a', 'C:/x', true],
  ['a', '..', true],
  ['x/a', '.', false],
])('a symlink %s to %s leaves its folder: %s', (path, target, expected) => {
  expect(isOutsideLink(path, target)).toBe(expected)
})

test('gRPC messages are parsed from chunks of any size', () => {
  const sent = [Buffer.from(''), Buffer.from('a'), encodeField(7, 'x'.repeat(300))]
  const stream = Buffer.concat(sent.map(encodeFrame))
  for (const size of [1, 3, 7, stream.length]) {
    const received: Buffer[] = []
    const read = createFrameReader((message) => received.push(message))
    for (let at = 0; at < stream.length; at += size) read(stream.subarray(at, at + size))
    expect(received).toEqual(sent)
  }
})

test('BuildKit’s messages are parsed', () => {
  const bytes = (number: number, data: Buffer) => Buffer.concat([Buffer.from([number * 8 + 2, data.length]), data])
  const text = (number: number, value: string) => bytes(number, Buffer.from(value))
  const number = (field: number, value: number) => Buffer.from([field * 8, value])
  const vertex = Buffer.concat([text(1, 'sha256:a'), text(3, '[1/2] RUN x'), number(4, 1), bytes(5, number(1, 9))])
  const log = Buffer.concat([text(1, 'sha256:a'), number(3, 2), text(4, 'oops\n')])
  const status = decodeBuildKitStatus(Buffer.concat([bytes(1, vertex), bytes(3, log), bytes(9, Buffer.from('new'))]).toString('base64'))
  expect(status.steps).toEqual([{ digest: 'sha256:a', name: '[1/2] RUN x', cached: true, started: true, completed: false, error: '' }])
  expect(status.logs).toEqual([{ step: 'sha256:a', stream: 'stderr', data: Buffer.from('oops\n') }])
  expect(decodeBuildKitStatus(Buffer.from([0xff, 0xff, 0xff]).toString('base64'))).toEqual({ steps: [], logs: [] })
})

test('listening ports are read from the kernel’s table', () => {
  const row = (address: string, state: string, inode: string) =>
    `   0: ${address} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1`
  const table = [
    '  sl  local_address',
    row('0100007F:0BB8', '0A', '1'),
    row('00000000:1F90', '0A', '2'),
    row('0100007F:1F91', '01', '3'),
    row('00000000000000000000000001000000:0050', '0A', '4'),
  ].join('\n')
  expect(parseListeningSockets(table)).toEqual([
    { port: 3000, loopback_only: true, hosts: ['127.0.0.1'] },
    { port: 8080, loopback_only: false, hosts: ['127.0.0.1'] },
    { port: 80, loopback_only: true, hosts: ['::1'] },
  ])
  expect(parseListeningSockets(table, new Set(['2']))).toMatchObject([{ port: 8080 }])
  const all = '0'.repeat(32)
  const shared = [row('00000000:0BB8', '0A', '1'), row(`${all}:0BB8`, '0A', '2'), row(`${all}:0BB9`, '0A', '2')].join('\n')
  expect(parseListeningSockets(shared, new Set(['2']))).toEqual([
    { port: 3000, loopback_only: false, hosts: ['::1'] },
    { port: 3001, loopback_only: false, hosts: ['127.0.0.1', '::1'] },
  ])
})

describe('the engine’s build output', () => {
  const clock = createTestClock({ frozen_at: 0 })
  const read = (answer: Readable, lines: string[]) => {
    const log = { line: (_: string, line: string) => void lines.push(line), note() {} }
    return streamBuildOutput(answer, log, new AbortController().signal, { name: 'Dockerfile', text: '', built: '' }, 512, clock)
  }
  const event = (of: object) => `${JSON.stringify(of)}\r\n`
  const build = async (error: string) => {
    const lines: string[] = []
    const answer = Readable.from([event({ stream: 'Step 1\n' }), event({ errorDetail: { message: error }, error })], { objectMode: false })
    await expect(read(answer, lines)).rejects.toMatchObject({ code: 'build_failed' })
    return lines
  }

  test('goes to the log, because it appears nowhere else; the result of a step is in its own lines', async () => {
    expect(await build('toomanyrequests: you have reached your pull limit')).toEqual(['Step 1', 'toomanyrequests: you have reached your pull limit'])
    expect(await build("The command '/bin/sh -c exit 3' returned a non-zero code: 3")).toEqual(['Step 1'])
  })

  test('times out after half an hour of silence', async () => {
    const lines: string[] = []
    const answer = new PassThrough()
    const reading = read(answer, lines)
    for (const step of ['one\n', 'two\n']) {
      await clock.advance(29 * 60_000)
      answer.write(event({ stream: step }))
      await until(() => lines.includes(step.trim()) || undefined, { what: 'the line of the step' })
    }
    const failed = expect(reading).rejects.toThrow('The builder stopped sending output.')
    await clock.advance(30 * 60_000)
    await failed
  })
})

describe('finding the engine', () => {
  let options: Awaited<ReturnType<typeof runtimeOptions>>
  beforeAll(async () => {
    options = await runtimeOptions()
  })
  afterAll(() => options.remove())

  test('an explicit setting comes first, then the docker command’s context, then the known sockets', async () => {
    const home = options.data_dir
    const meta = join(home, '.docker/contexts/meta', createHash('sha256').update('work').digest('hex'))
    await mkdir(meta, { recursive: true })
    await writeFile(join(home, '.docker/config.json'), JSON.stringify({ currentContext: 'work' }))
    await writeFile(join(meta, 'meta.json'), JSON.stringify({ Name: 'work', Endpoints: { docker: { Host: 'unix:///work.sock' } } }))
    const found = await findDockerAddresses({ host: 'tcp://10.0.0.1:2375', home })
    expect(found.slice(0, 3)).toEqual(['tcp://10.0.0.1:2375', 'unix:///work.sock', 'unix:///var/run/docker.sock'])
    expect(found).toContain(`unix://${home}/.config/colima/default/docker.sock`)
    expect(await findDockerAddresses({ home, candidates: ['unix:///only.sock'] })).toEqual(['unix:///only.sock'])
  })

  test('a busy one that takes almost 5 seconds is found, a slower one is not', async () => {
    const clock = createTestClock({ frozen_at: 0 })
    const responses: ServerResponse[] = []
    const engine = createServer((_, response) => void responses.push(response))
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
    try {
      const address = `tcp://127.0.0.1:${(engine.address() as AddressInfo).port}`
      const waits = (count: number) => until(() => responses.length === count || undefined, { what: 'the requests for version and facts' })
      const found = connectToDocker([address], clock)
      await waits(2)
      await clock.advance(4_999)
      for (const response of responses) response.end('{"Version":"29.0.0"}')
      expect(await found).toMatchObject({ address, version: '29.0.0' })

      const given_up = connectToDocker([address], clock)
      await waits(4)
      await clock.advance(5_000)
      expect(await given_up).toEqual({ tried: [{ address, reason: 'No response within 5000 ms.' }] })
    } finally {
      engine.close()
      engine.closeAllConnections()
    }
  })
})
