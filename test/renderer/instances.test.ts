import { describe, expect, it } from 'vitest'
import { deriveCapabilities } from '../../renderer/api/capabilities.ts'
import { hostLabel, instanceBasePath, instanceIdFromPath, isSafePath } from '../../renderer/lib/instance-path.ts'
import { leastUsedHue, hues } from '../../renderer/features/instances/hues.ts'
import { sanitizeForDisplay } from '../../renderer/lib/sanitize-for-display.ts'
import { safeWebUrl } from '../../renderer/lib/safe-web-url.ts'

describe('the path of an instance', () => {
  it.each([
    ['/app/', 'local'],
    ['/app/projects/on/it', 'local'],
    ['/app/on/rem_1', 'rem_1'],
    ['/app/on/rem_1/projects/a', 'rem_1'],
    ['/app/on/a%2Fb/', 'a/b'],
    ['/app/on/%E0%A4%A/', '%E0%A4%A'],
  ])('%s belongs to %s', (path, id) => expect(instanceIdFromPath(path)).toBe(id))

  it('round-trips', () => {
    for (const id of ['local', 'rem_1', 'a/b', '..']) expect(instanceIdFromPath(`${instanceBasePath(id)}/projects/x`)).toBe(id)
  })

  it('cannot be left by path segments such as ..', () => {
    for (const path of ['/app/on/a/../../instance', '/app/on/a/%2e%2e/x', '/app//evil.example', '/app/on/a/./x', '\\\\evil', '/app/..', '/app/\t/x'])
      expect(isSafePath(path), path).toBe(false)
    for (const path of ['/app/projects/a.b', '/app/projects/x?from=../y', '/app/projects/x#//y', '/app/on/a/logs?branch=a%2F..%2Fb', '#'])
      expect(isSafePath(path), path).toBe(true)
  })
})

describe('the features of an instance', () => {
  const session = { instance: { is_local: true }, user: { is_instance_owner: true } }
  it.each([
    [
      'home, before it responds',
      true,
      undefined,
      { is_known: true, has_instance_api: true, can_deploy_folders: false, is_local: false, has_terminal: true },
    ],
    ['home', true, session, { is_known: true, has_instance_api: true, can_deploy_folders: true, is_local: true, has_terminal: true }],
    [
      'another instance, before it responds',
      false,
      undefined,
      { is_known: false, has_instance_api: false, can_deploy_folders: false, is_local: false, has_terminal: false },
    ],
    // Its own machine, from its view, is not the local one.
    ['another Homeport', false, session, { is_known: true, has_instance_api: true, can_deploy_folders: false, is_local: false, has_terminal: false }],
    ['a hosted account', false, null, { is_known: true, has_instance_api: false, can_deploy_folders: false, is_local: false, has_terminal: false }],
  ])('%s', (_, isHome, session, capabilities) => expect(deriveCapabilities(isHome, session)).toEqual(capabilities))
})

describe('data from an instance', () => {
  it('links only to web addresses', () => {
    for (const address of ['https://a.example/x', 'http://127.0.0.1:80/']) expect(safeWebUrl(address)).toBe(new URL(address).href)
    for (const address of [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '//evil.example',
      '/app',
      'https://you@evil.example',
      '',
      null,
      undefined,
    ])
      expect(safeWebUrl(address), String(address)).toBeUndefined()
  })

  it('is shown without bidirectional and control characters, truncated', () => {
    expect(sanitizeForDisplay('Delete \u202Egnp.exe\u2066\u0007?')).toBe('Delete \uFFFDgnp.exe\uFFFD\uFFFD?')
    expect(sanitizeForDisplay('Ålesund – naïve “quote” 日本 👩‍🚀\nline')).toBe('Ålesund – naïve “quote” 日本 👩‍🚀\nline')
    expect(sanitizeForDisplay('W'.repeat(5000))).toHaveLength(401)
  })

  it('defaults to the host', () => {
    expect(hostLabel('https://deploy.example.com')).toBe('deploy.example.com')
    expect(hostLabel('http://10.0.0.2:4700')).toBe('10.0.0.2:4700')
    expect(hostLabel('nonsense')).toBe('nonsense')
  })
})

describe('the color of a new frame', () => {
  it('is unused, and never close to that of this machine', () => {
    const taken = [255]
    for (const _ of hues) taken.push(leastUsedHue(taken))
    expect(new Set(taken).size).toBe(hues.length + 1)
    expect(hues.every(({ hue }) => Math.abs(hue - 255) > 40)).toBe(true)
    expect(hues.map(({ hue }) => hue as number)).toContain(leastUsedHue(taken))
  })
})
