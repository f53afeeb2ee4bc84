import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { chromiumPath, requires } from '../support/requirements.ts'

const run = promisify(execFile)

interface Https {
  authority: { fingerprint_sha256: string } | null
  trust: { store: string; status: string }[]
}

/** A new browser, whose home folder is where the platform adds the trust. */
const openChromium = (home: string) =>
  chromium.launch({
    ...(chromiumPath ? { executablePath: chromiumPath } : {}),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    env: { ...process.env, HOME: home },
  })

describe.skipIf(!requires('chromium').ok || !requires('nss').ok)('a browser and the authority', () => {
  let platform: TestPlatform
  let repository: Repository
  let home = ''
  let url = ''

  beforeAll(async () => {
    platform = await startTestPlatform({ runtime: 'process' })
    home = join(platform.data_dir, 'home')
    repository = makeRepository({ 'index.html': '<!doctype html><title>kept safe</title><h1>kept safe</h1>' })
    await platform.createProject({ slug: 'safe', repo_url: repository.url })
    const { status } = await platform.waitForEnd('safe', (await platform.deploy('safe')).id)
    expect(status).toBe('ready')
    url = (platform.handle.instance.edge_https_url ?? '').replace('127.0.0.1', 'safe.localhost')
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  test('warns before it is trusted, uses HTTP/2 afterwards, and warns again once it is removed', async () => {
    const openPage = async (): Promise<string> => {
      const browser = await openChromium(home)
      try {
        const page = await browser.newPage()
        // Docker networks of other tests are a network change to Chromium.
        for (let isLoaded = false; !isLoaded;) {
          isLoaded = await page.goto(url).then(
            () => true,
            (error: unknown) => {
              if (String(error).includes('ERR_NETWORK_CHANGED')) return false
              throw error
            },
          )
        }
        const protocol = await page.evaluate(() => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).nextHopProtocol)
        return `${await page.textContent('h1')} by ${protocol}, ${await page.evaluate(() => isSecureContext)}`
      } finally {
        await browser.close()
      }
    }
    await expect(openPage()).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID')

    const trusted = await platform.api<{ https: Https; messages: string[] }>('POST', '/instance/https/trust')
    expect(trusted.body.messages[0]).toBe('Chromium: now trusted.')
    expect(trusted.body.https.trust).toMatchObject([{ store: 'Chromium', status: 'trusted' }])
    expect(await openPage()).toBe('kept safe by h2, true')

    const removed = await platform.api<{ https: Https; messages: string[] }>('DELETE', '/instance/https/trust')
    expect(removed.body.messages).toEqual(['Chromium: removed.', 'The authority’s key was destroyed. It can no longer sign certificates.'])
    expect(removed.body.https.authority).toBeNull()
    await expect(openPage()).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID')
  })

  test('curl and openssl accept it too, and the chain is correct', async () => {
    await platform.api('POST', '/instance/https/trust')
    const ca = join(platform.data_dir, 'authority.crt')
    const { port } = new URL(url)
    const curl = (...args: string[]) => run('curl', ['-sS', '--cacert', ca, '--resolve', `safe.localhost:${port}:127.0.0.1`, ...args, url])
    expect((await curl('--http2', '-o', '/dev/null', '-w', '%{http_version} %{http_code} %{ssl_verify_result}')).stdout).toBe('2 200 0')
    expect((await curl('--http1.1')).stdout).toContain('kept safe')

    const shown = run('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-servername',
      'safe.localhost',
      '-CAfile',
      ca,
      '-verify_hostname',
      'safe.localhost',
      '-x509_strict',
    ])
    shown.child.stdin?.end()
    const { stdout } = await shown
    expect(stdout).toContain('Verify return code: 0 (ok)')
    expect(stdout).toMatch(/0 s:O = Homeport, CN = safe\.localhost\s+i:O = Homeport, CN = Homeport local authority/)
  })
})
