import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import { startSyslogReceiver, startUdpReceiver } from '../support/log-receivers.ts'
import { until } from '../support/platform.ts'
import { createTestAuthority } from '../support/tls.ts'
import { drainsPath, linesOf, messagesOf, startTalker, type Talker } from './talker.ts'

/* From a line of an app to syslog receivers on this machine, and to files. */

let talker: Talker
beforeAll(async () => {
  talker = await startTalker()
})
afterEach(() => talker.reset())
afterAll(() => talker?.close())

describe('syslog', () => {
  test('over TCP: RFC 5424 with octet counting; a receiver that is down or hangs gets the lines later', async () => {
    const first = await startSyslogReceiver()
    const { id } = await talker.addDrain({ kind: 'syslog', address: `tcp://127.0.0.1:${first.port}`, sources: ['app'] })
    await talker.say('over tcp\u00e9')
    await talker.untilAdvanced(async () => {
      return first.messages.length === 1 ? true : undefined
    }, 'the message')
    expect(first.messages[0]).toMatch(
      /^<134>1 \d{4}-\d\d-\d\dT[\d:.]+Z talker web dpl_\w+ app \[homeport@32473 project="talker" environment="production" branch="main" id="prj_\w+\.\d+"\] \ufeffover tcp\u00e9 $/,
    )
    await until(async () => ((await talker.stateOf(id)).delivered === 1 ? true : undefined), { what: 'the count' })
    await first.close()
    await talker.say('while it was down')
    await talker.untilAdvanced(async () => {
      return (await talker.stateOf(id)).status === 'failing' ? true : undefined
    }, 'a failed attempt')
    expect((await talker.stateOf(id)).last_error?.message).toMatch(/^The connection was refused/)
    const second = await startSyslogReceiver({ port: first.port })
    second.is_hanging = true
    await talker.untilAdvanced(
      async () => {
        return (await talker.stateOf(id)).last_error?.message === 'There was no response in time.' ? true : undefined
      },
      'an attempt that timed out',
      11_000,
    )
    expect((await talker.stateOf(id)).delivered).toBe(1)
    second.is_hanging = false
    await talker.say('and again')
    await talker.untilAdvanced(
      async () => {
        return second.messages.length >= 2 ? true : undefined
      },
      'the missing messages',
      11_000,
    )
    expect(second.messages.map((message) => message.split('\ufeff')[1])).toEqual(['while it was down ', 'and again '])
    await second.close()
  })

  test('over TLS, to a receiver that is trusted', async () => {
    const identity = async (of: typeof talker.authority) => {
      const { key, certificate } = await of.identityFor('127.0.0.1')
      return { key, cert: certificate }
    }
    const trusted = await startSyslogReceiver({ tls: await identity(talker.authority) })
    const foreign = await startSyslogReceiver({ tls: await identity(createTestAuthority('foreign')) })
    const first = await talker.addDrain({ kind: 'syslog', address: `tls://127.0.0.1:${trusted.port}`, sources: ['app'] })
    const second = await talker.addDrain({ kind: 'syslog', address: `tls://127.0.0.1:${foreign.port}`, sources: ['app'] })
    await talker.say('over tls')
    await talker.untilAdvanced(async () => {
      const [good, bad] = [await talker.stateOf(first.id), await talker.stateOf(second.id)]
      return good.delivered === 1 && bad.status === 'failing' ? true : undefined
    }, 'one delivery and one refusal')
    expect(trusted.messages).toEqual([expect.stringContaining('over tls')])
    expect((await talker.stateOf(second.id)).last_error?.message).toMatch(/^The certificate of the host is not trusted/)
    expect(foreign.messages).toEqual([])
    await trusted.close()
    await foreign.close()
  })

  test('over UDP', async () => {
    const udp = await startUdpReceiver()
    await talker.addDrain({ kind: 'syslog', address: `udp://127.0.0.1:${udp.port}`, sources: ['app'] })
    await talker.say('over udp')
    await talker.untilAdvanced(async () => {
      return udp.messages.length > 0 ? true : undefined
    }, 'the datagram')
    expect(udp.messages[0]).toMatch(/^<134>1 .* \ufeffover udp $/)
    await udp.close()
  })
})

describe('a file', () => {
  const filesOf = () => {
    const root = join(talker.home.data_dir, 'log-drains')
    const projects = existsSync(root) ? readdirSync(root) : []
    return projects.flatMap((project) => readdirSync(join(root, project)).map((file) => join(root, project, file))).toSorted()
  }

  test('gets lines of JSON, is rotated by its size, and is deleted with the drain', async () => {
    const { id } = await talker.addDrain({ kind: 'file', address: 'output', sources: ['app'] })
    await talker.say('filed', `?count=6000&pad=${'x'.repeat(2_000)}`)
    await until(
      async () => {
        if ((await talker.stateOf(id)).delivered === 6000) return true
        if ((await talker.stateOf(id)).delivered === 0) await talker.home.advance(1_000)
        return undefined
      },
      { what: 'all lines' },
    )
    const files = filesOf()
    expect(files.map((file) => file.split('/').at(-1))).toEqual(['output.log', 'output.log.1'])
    for (const file of files) {
      expect(statSync(file).size).toBeLessThanOrEqual(10 * 2 ** 20)
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    const lines = files.toReversed().flatMap((file) => linesOf(readFileSync(file, 'utf8')))
    expect(messagesOf(lines).map((message) => message.split(' ')[1])).toEqual(Array.from({ length: 6000 }, (_, n) => String(n)))
    await talker.home.api('DELETE', `${drainsPath}/${id}`)
    expect(filesOf()).toEqual([])
  })

  test('is not written through a link', async () => {
    const { id } = await talker.addDrain({ kind: 'file', address: 'linked', sources: ['app'] })
    const send = async () => (await talker.home.api<{ error: string | null }>('POST', `${drainsPath}/${id}/test`)).body.error
    expect(await send()).toBeNull()
    const [file = ''] = filesOf()
    const outside = join(talker.folder.path, 'outside.txt')
    writeFileSync(outside, 'untouched')
    unlinkSync(file)
    symlinkSync(outside, file)
    expect(await send()).toBe('The file could not be written (ELOOP).')
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
  })

  test('goes with its project', async () => {
    await talker.home.createProject({ slug: 'short-lived' })
    const { body } = await talker.home.api<{ log_drain: LogDrain }>('POST', '/instance/projects/short-lived/log-drains', {
      kind: 'file',
      address: 'gone',
    })
    await talker.home.api('POST', `/instance/projects/short-lived/log-drains/${body.log_drain.id}/test`)
    expect(filesOf()).toHaveLength(1)
    await talker.home.api('DELETE', '/v1/projects/short-lived')
    await until(() => (filesOf().length === 0 ? true : undefined), { what: 'the deletion of the file' })
  })
})
