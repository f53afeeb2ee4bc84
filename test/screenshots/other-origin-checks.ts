import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import { expect } from 'vitest'
import { htmlHandler, listen, type SharedBrowser, pngSize } from './test-screenshotter.ts'

/**
 * A page requests other origins in every possible way, and reaches none. `names` resolve to a server of this machine. The page
 * never finishes loading and has `load_ms` for its requests.
 */
export async function expectNoOtherOrigin(browser: SharedBrowser, names: string[], load_ms: number): Promise<void> {
  const seen: string[] = []
  const canary = createServer((request, response) => {
    seen.push(`${request.headers.host} ${request.url}`)
    response.setHeader('access-control-allow-origin', '*').end('canary')
  })
  canary.on('upgrade', (request, socket) => {
    seen.push(`socket ${request.headers.host}`)
    socket.destroy()
  })
  const port = await listen(canary)
  const udp = createSocket('udp4').on('message', () => seen.push('udp'))
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
  const tcp = createTcp((socket) => {
    seen.push('tcp')
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const turn = (tcp.address() as AddressInfo).port

  const bases = names.map((name) => `http://${name}:${port}`)
  const parts = bases
    .map(
      (base, i) => `
        <img src="${base}/img"><script src="${base}/script"></script><link rel="stylesheet" href="${base}/style"><link rel="icon" href="${base}/icon">
        <link rel="prefetch" href="${base}/prefetch"><link rel="preconnect" href="${base}"><link rel="dns-prefetch" href="${base}"><link rel="prerender" href="${base}/prerender">
        <link rel="manifest" href="${base}/manifest"><iframe src="${base}/frame"></iframe><object data="${base}/object"></object><video src="${base}/video"></video>
        <form id="form${i}" action="${base}/form" method="post" target="_blank"></form><a id="ping${i}" href="#x" ping="${base}/ping">x</a>
        <style>@font-face { font-family: f${i}; src: url(${base}/font) } p { font-family: f${i}; background: url(${base}/background) }</style><p>text</p>
        <script>{
          const base = '${base}'
          const tried = (work) => { try { work() } catch {} }
          tried(() => fetch(base + '/fetch', { mode: 'no-cors' }).catch(() => {}))
          tried(() => navigator.sendBeacon(base + '/beacon', 'x'))
          tried(() => new WebSocket(base.replace('http', 'ws')))
          tried(() => new EventSource(base + '/events'))
          tried(() => open(base + '/popup'))
          tried(() => document.getElementById('form${i}').submit())
          tried(() => document.getElementById('ping${i}').click())
          const work = "fetch('" + base + "/worker', { mode: 'no-cors' }); try { new WebSocket('" + base.replace('http', 'ws') + "') } catch {}"
          tried(() => new Worker(URL.createObjectURL(new Blob([work]))))
          tried(() => new SharedWorker(URL.createObjectURL(new Blob([work]))))
        }</script>`,
    )
    .join('')
  browser.serve((request, response) => {
    if (request.url === '/sw.js')
      return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`fetch('${bases[0]}/service', { mode: 'no-cors' })`)
    if (request.url === '/moved') return void response.writeHead(307, { location: `${bases[1]}/moved` }).end()
    htmlHandler(`<body><h1>Mine</h1><script>
        navigator.serviceWorker.register('/sw.js').catch(() => {})
        fetch('/moved', { mode: 'no-cors' }).catch(() => {})
        const peer = new RTCPeerConnection({ iceTransportPolicy: 'all', iceServers: [
          { urls: 'stun:127.0.0.1:${udp.address().port}' }, { urls: 'turn:127.0.0.1:${turn}?transport=tcp', username: 'a', credential: 'b' } ] })
        peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))
        setTimeout(() => { location.href = '${bases.at(-1)}/away' }, 50)
      </script>${parts}`)(request, response)
  })
  expect(pngSize(await browser.take('desktop', { load_ms }))).toEqual([1280, 800])
  expect(browser.requests).toContain('/')
  // The server exists and is reachable from this process.
  await fetch(`http://127.0.0.1:${port}/control`)
  canary.closeAllConnections()
  for (const one of [canary, tcp, udp]) one.close()
  expect(seen).toEqual([`127.0.0.1:${port} /control`])
  // The app's own host with another port is not the app's origin either.
  expect(browser.requests.filter((path) => path === '/img' || path === '/fetch')).toEqual([])
}
