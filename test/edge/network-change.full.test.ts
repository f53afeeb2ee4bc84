import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { routeOwner } from '../support/edge.ts'
import { chromiumPath, requires } from '../support/requirements.ts'
import { runProgram } from '../support/runtime.ts'
import { startSecureEdge } from '../support/secure-edge.ts'
import { until } from '../support/until.ts'

/** Counts the connections that its socket needed, as `data-connections`, and shows the last message. */
const html = `<!doctype html><html data-connections="0"><script>
const page = document.documentElement
const connect = () => {
  const socket = new WebSocket('wss://' + location.host + '/')
  socket.onopen = () => page.dataset.connections++
  socket.onmessage = ({ data }) => (page.dataset.message = data)
  socket.onclose = () => setTimeout(connect, 50)
}
connect()
</script></html>`

/**
 * A Docker network that is created or removed changes the addresses of a Linux machine. Chromium then ends its HTTP/2 connections with all streams
 * (ERR_NETWORK_CHANGED), but not those of HTTP/1.1.
 */
test.skipIf(!requires('docker').ok || !requires('chromium').ok || !requires('linux').ok)(
  'the WebSocket of a development server survives a network change of this machine, on an HTTP/2 page',
  async () => {
    const secureEdge = await startSecureEdge()
    const app = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html)).listen(0, '127.0.0.1')
    await once(app, 'listening')
    const sockets = new WebSocketServer({ server: app })
    const { port } = app.address() as AddressInfo
    await secureEdge.edge.routeToPort(port)
    const development = { ...routeOwner, kind: 'development', host: '127.0.0.1', port, host_header: 'localhost' } as const
    secureEdge.edge.edge.setDevelopmentRoute('other.localhost', development)
    const args = ['--no-sandbox', '--ignore-certificate-errors']
    const browser = await chromium.launch({ args, ...(chromiumPath ? { executablePath: chromiumPath } : {}) })
    const network = `homeport-test-${randomBytes(4).toString('hex')}`
    const open = async (host: string): Promise<Page> => {
      const page = await browser.newPage()
      await page.goto(`https://${host}:${secureEdge.port}/`)
      await page.waitForSelector('html:not([data-connections="0"])', { state: 'attached' })
      expect(await page.evaluate(() => (performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming).nextHopProtocol)).toBe('h2')
      return page
    }
    const countConnections = async (page: Page) => Number(await page.getAttribute('html', 'data-connections'))
    try {
      const [ofApp, ofDevelopment] = [await open('app.localhost'), await open('other.localhost')]
      const before = await countConnections(ofApp)
      await until(
        async () => {
          await runProgram('docker', ['network', 'create', network])
          await runProgram('docker', ['network', 'rm', network])
          return (await countConnections(ofApp)) > before ? true : undefined
        },
        { what: 'Chromium to end a connection of HTTP/2' },
      )
      expect(await countConnections(ofDevelopment)).toBe(1)
      for (const socket of sockets.clients) socket.send('an edit')
      await ofDevelopment.waitForSelector('html[data-message="an edit"]', { state: 'attached' })
    } finally {
      await browser.close()
      app.closeAllConnections()
      app.close()
      await secureEdge.close()
    }
  },
)
