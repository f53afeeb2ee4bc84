import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../server/lib/log.ts'
import { formatHostsBlock, createHostsBlock, parseHostsBlock, applyHostsBlock, writeHostsBlock } from '../../server/lib/hosts-file.ts'
import { createHostsFileSync } from '../../server/tls/hosts-file-sync.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock({ frozen_at: '2026-01-31T12:00:00Z' })
const block = (...names: string[]) => createHostsBlock('abc123', names)
const none = block()

describe('the text', () => {
  const usual = '127.0.0.1\tlocalhost\n::1 localhost\n# mine: café\n10.0.0.1 nas\n'

  test('the block is appended, between markers', () => {
    expect(applyHostsBlock(usual, block('a.localhost', 'www.example.com'))).toBe(
      `${usual}# homeport begin abc123\n127.0.0.1 a.localhost\n127.0.0.1 www.example.com\n# homeport end\n`,
    )
  })

  test('another set of names replaces the block, wherever it is', () => {
    const once = `${applyHostsBlock(usual, block('a.localhost'))}10.0.0.2 added-below\n`
    expect(applyHostsBlock(once, block('b.localhost', 'c.localhost'))).toBe(
      `${usual}# homeport begin abc123\n127.0.0.1 b.localhost\n127.0.0.1 c.localhost\n# homeport end\n10.0.0.2 added-below\n`,
    )
  })

  test('two instances do not touch each other’s lines', () => {
    const other = createHostsBlock('zzz', ['their.localhost'])
    const both = applyHostsBlock(applyHostsBlock(usual, other), block('a.localhost'))
    expect(applyHostsBlock(both, none)).toBe(applyHostsBlock(usual, other))
    expect(applyHostsBlock(applyHostsBlock(both, none), { ...other, lines: [] })).toBe(usual)
  })

  test('with a missing end marker no foreign line is removed', () => {
    const broken = `# homeport begin abc123\n127.0.0.1 a.localhost\n10.0.0.1 nas\n`
    expect(applyHostsBlock(broken, none)).toBe('10.0.0.1 nas\n')
  })

  test('keeps the line endings of the file', () => {
    expect(applyHostsBlock('127.0.0.1 localhost\r\n', block('a.localhost'))).toBe(
      '127.0.0.1 localhost\r\n# homeport begin abc123\r\n127.0.0.1 a.localhost\r\n# homeport end\r\n',
    )
  })

  test('an invalid name is not written', () => {
    expect(block('ok.localhost', 'evil\n10.0.0.1 bank.com', 'with space', '', '-x', 'UPPER', '*.localhost').lines).toEqual(['127.0.0.1 ok.localhost'])
  })

  test('the administrator’s command accepts only a valid block from an instance', () => {
    const good = block('a.localhost', 'b.example.com')
    expect(parseHostsBlock(formatHostsBlock(good))).toEqual(good)
    for (const bad of [
      '',
      'root::0:0::/:/bin/sh\n',
      formatHostsBlock(good).replace('127.0.0.1', '6.6.6.6'),
      `${formatHostsBlock(good)}evil\n`,
      formatHostsBlock(good).replace('abc123', '../x'),
    ])
      expect(() => parseHostsBlock(bad)).toThrow('not a valid block for the hosts file')
  })

  test('adding and removing restores every file exactly', () => {
    const eol = fc.constantFrom('\n', '\r\n')
    const line = fc.string({ maxLength: 20 }).filter((text) => !/[\r\n]/.test(text) && !text.startsWith('# homeport'))
    const names = fc.uniqueArray(
      fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/).map((name) => `${name}.localhost`),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), eol, fc.boolean(), names, names, (lines, end, closed, first, second) => {
        const text = lines.join(end) + (closed && lines.length > 0 ? end : '')
        const once = applyHostsBlock(text, block(...first))
        expect(applyHostsBlock(once, block(...first))).toBe(once)
        expect(applyHostsBlock(applyHostsBlock(once, block(...second)), none)).toBe(text)
      }),
      { seed: 20_261_121 },
    )
  })
})

describe('the file', () => {
  let folder = ''
  let path = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-hosts-'))
    path = join(folder, 'hosts')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('keeps its mode and every byte, and a symlink stays one', async () => {
    const bytes = Buffer.from([0x31, 0x0a, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a])
    writeFileSync(path, bytes)
    chmodSync(path, 0o640)
    const link = join(folder, 'link')
    symlinkSync(path, link)
    expect(await writeHostsBlock(link, block('a.localhost'))).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readFileSync(path).subarray(0, bytes.length)).toEqual(bytes)
    expect(await writeHostsBlock(link, block('a.localhost'))).toBe(false)
    await writeHostsBlock(link, none)
    expect(readFileSync(path)).toEqual(bytes)
  })

  test('follows the names while the setting is on, and is clean when it is off', async () => {
    const original = '127.0.0.1 localhost'
    writeFileSync(path, original)
    const state = { names: ['a.localhost'], on: false }
    const file = createHostsFileSync({
      path,
      instance: 'abc123',
      data_dir: folder,
      names: async () => state.names,
      isEnabled: () => state.on,
      clock,
      log: silentLog,
    })
    await file.sync()
    expect(readFileSync(path, 'utf8')).toBe(original)
    state.on = true
    await file.sync()
    expect(await file.status()).toMatchObject({ path, in_sync: true, writable: true, command: null })
    state.names = ['a.localhost', 'b.localhost']
    for (let i = 0; i < 20; i++) file.scheduleSync()
    await clock.advance(300)
    await file.close()
    expect(readFileSync(path, 'utf8')).toContain('127.0.0.1 b.localhost')
    state.on = false
    await file.sync()
    expect(readFileSync(path, 'utf8')).toBe(original)
  })

  test('a missing one is not created, and the command says where the instance is', async () => {
    const file = createHostsFileSync({
      path,
      instance: 'abc123',
      data_dir: "/some where/it's",
      names: async () => ['a.localhost'],
      isEnabled: () => true,
      clock,
      log: silentLog,
    })
    await file.sync()
    expect(await file.status()).toMatchObject({
      in_sync: false,
      writable: false,
      command: `sudo npx homeport hosts --write --data '/some where/it'\\''s'`,
    })
  })

  test('ten thousand names', async () => {
    writeFileSync(path, '127.0.0.1 localhost\n')
    const many = block(...Array.from({ length: 10_000 }, (_, i) => `app-${i}.localhost`))
    await writeHostsBlock(path, many)
    expect(await writeHostsBlock(path, many)).toBe(false)
    await writeHostsBlock(path, none)
    expect(readFileSync(path, 'utf8')).toBe('127.0.0.1 localhost\n')
  })
})
