import { createSocket } from 'node:dgram'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createTcp } from 'node:net'
import { createServer } from 'node:http'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { killOne } from '../../server/runtime/process-group.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { type App, browsersOf, type Camera, collect, html, listen, setUp, sizeOf } from './camera.ts'

let camera: Camera
const open = async (...args: Parameters<typeof setUp>): Promise<Camera> => (camera = await setUp(...args))

describe.skipIf(!requires('chromium').ok)('a browser of this machine', () => {
  afterEach(async () => {
    // Whatever the page did: nothing of the browser is left.
    await until(() => browsersOf(camera.data_dir).length === 0 || undefined, { what: 'the end of every process of the browser' })
    expect(readdirSync(camera.data_dir)).toEqual([])
    await camera.close()
  })

  test('takes both pictures in their sizes, and a phone is laid out as a phone is', async () => {
    const paint = `<body style="margin:0"><script>document.body.style.background = innerWidth < 500 ? '#00f' : '#f00'; fetch('/seen?' + [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0, matchMedia('(prefers-reduced-motion)').matches])</script>`
    await open(html(paint))
    const pictures = await camera.take({ variants: ['desktop', 'mobile'] })
    expect(pictures.map(({ variant, png }) => [variant, ...sizeOf(png)])).toEqual([
      ['desktop', 1280, 800],
      ['mobile', 390, 844],
    ])
    expect(camera.asked.filter((path) => path.startsWith('/seen'))).toEqual(['/seen?1280,800,1,false,true', '/seen?390,844,1,true,true'])
    expect(Buffer.from(pictures[0]!.png).equals(Buffer.from(pictures[1]!.png))).toBe(false)
  })

  test('waits for what comes late, and not for what never ends', async () => {
    const loaded = Promise.withResolvers<void>()
    await open((request, response) => {
      if (request.url === '/events') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
      if (request.url === '/late') return void loaded.promise.then(() => response.end('"#0a0"'))
      if (request.url === '/loaded') {
        loaded.resolve()
        return void response.end()
      }
      html(
        `<body><script>new EventSource('/events'); addEventListener('load', () => fetch('/loaded')); fetch('/late').then((r) => r.json()).then((c) => { document.body.style.background = c; fetch('/painted') })</script>`,
      )(request, response)
    })
    await camera.take()
    expect(camera.asked).toContain('/painted')
  })

  test('shows the answer of an API', async () => {
    await open((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'))
    expect(await camera.take()).toHaveLength(1)
  })

  test('shows the app’s own 404', async () => {
    await open(html('<h1>Nothing here</h1>', 404))
    expect(await camera.take()).toHaveLength(1)
  })

  test('follows a redirect within the app', async () => {
    await open((request, response) => {
      if (request.url === '/') return void response.writeHead(302, { location: '/home' }).end()
      html('<h1>Home</h1>')(request, response)
    })
    expect(await camera.take()).toHaveLength(1)
    expect(camera.asked).toContain('/home')
  })

  test.each<[string, App, RegExp]>([
    ['a failure of the app', html('<h1>Oh no</h1>', 503), /answers 503/],
    ['an empty page', html(''), /empty/],
    ['an empty answer', (_, response) => void response.end(), /empty/],
    [
      'a file to save',
      (_, response) => void response.writeHead(200, { 'content-disposition': 'attachment; filename="a.bin"' }).end('abc'),
      /nothing to see/,
    ],
    ['a redirect to elsewhere', (_, response) => void response.writeHead(302, { location: 'http://example.com/' }).end(), /elsewhere/],
    ['a redirect into the machine', (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(), /nothing to see/],
    ['a connection that breaks', (request) => void request.socket.destroy(), /nothing to see/],
  ])('takes none of %s, and says why', async (_, app, why) => {
    await open(app)
    await expect(camera.take()).rejects.toThrow(why)
  })

  test('other origins are never reached, whatever asks for them', async () => {
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
    const udp = createSocket('udp4')
    udp.on('message', () => seen.push('udp'))
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
    const tcp = createTcp((socket) => {
      seen.push('tcp')
      socket.destroy()
    })
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const turn = (tcp.address() as { port: number }).port

    const bases = ['canary.localhost', '127.0.0.1', 'localhost', '127.1', '2130706433', 'shop.localhost', 'canary.test'].map(
      (name) => `http://${name}:${port}`,
    )
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
    await open((request, response) => {
      if (request.url === '/sw.js')
        return void response.writeHead(200, { 'content-type': 'text/javascript' }).end(`fetch('${bases[0]}/service', { mode: 'no-cors' })`)
      if (request.url === '/moved') return void response.writeHead(307, { location: `${bases[1]}/moved` }).end()
      html(`<body><h1>Mine</h1><script>
        navigator.serviceWorker.register('/sw.js').catch(() => {})
        fetch('/moved', { mode: 'no-cors' }).catch(() => {})
        const peer = new RTCPeerConnection({ iceTransportPolicy: 'all', iceServers: [
          { urls: 'stun:127.0.0.1:${udp.address().port}' }, { urls: 'turn:127.0.0.1:${turn}?transport=tcp', username: 'a', credential: 'b' } ] })
        peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer))
        setTimeout(() => { location.href = '${bases[2]}/away' }, 50)
      </script>${parts}`)(request, response)
    })
    const [picture] = await camera.take()
    expect(sizeOf(picture!.png)).toEqual([1280, 800])
    expect(camera.asked).toContain('/')
    canary.closeAllConnections()
    canary.close()
    tcp.close()
    udp.close()
    expect(seen).toEqual([])
    // The app's own name with another port is not the app's origin either.
    expect(camera.asked.filter((path) => path === '/img' || path === '/fetch')).toEqual([])
  })

  test('a page that asks and asks again holds nothing up', async () => {
    await open(html(`<h1>x</h1><script>alert(1); confirm(2); prompt(3); onbeforeunload = () => 'stay'; print()</script>`))
    expect(await camera.take()).toHaveLength(1)
  })

  test('a socket of the app works while its picture is taken', async () => {
    const upgraded: string[] = []
    await open(html(`<h1>x</h1><script>new WebSocket('ws://' + location.host + '/live')</script>`), {
      upgrade: (request, socket) => {
        upgraded.push(request.url ?? '')
        socket.destroy()
      },
    })
    await camera.take()
    expect(upgraded).toEqual(['/live'])
  })

  test('a part that never comes: the page is taken as it is', async () => {
    await open(
      (request, response) => {
        if (request.url !== '/never') html('<h1>There</h1><img src="/never">')(request, response)
      },
      { limits: { load_ms: 500, quiet_ms: 100 } },
    )
    expect(await camera.take()).toHaveLength(1)
  })

  test('a page that never answers is given up', async () => {
    await open(() => {}, { limits: { picture_ms: 1500 } })
    await expect(camera.take()).rejects.toThrow('not there after 1.5 s')
  })

  test('a page whose script never ends is given up', async () => {
    await open(html('<h1>x</h1><script>for (;;);</script>'), { limits: { picture_ms: 3000, load_ms: 500, quiet_ms: 100 } })
    await expect(camera.take()).rejects.toThrow('not there after 3 s')
  })

  test('a page of a million parts is a picture of its top', async () => {
    await open(html('<h1>Top</h1><script>document.write("<p>line</p>".repeat(100000))</script>'))
    const [picture] = await camera.take()
    expect(sizeOf(picture!.png)).toEqual([1280, 800])
  })

  test('a page that takes more memory than it may is ended', async () => {
    await open(() => {}, { limits: { memory_bytes: 20 * 2 ** 20 } })
    await expect(camera.take()).rejects.toThrow('more than 20 MiB of memory')
  })

  test('a browser that is killed in the middle: the picture fails at once, and the next one is fine', async () => {
    let isFirst = true
    await open((request, response) => {
      if (!isFirst) return html('<h1>x</h1>')(request, response)
      isFirst = false
      // Some end by themselves when the first one does.
      for (const pid of browsersOf(camera.data_dir)) killOne(Number(pid))
    })
    await expect(camera.take()).rejects.toThrow('ended')
    expect(await camera.take()).toHaveLength(1)
  })

  test('called off: the browser goes at once', async () => {
    const controller = new AbortController()
    await open(() => controller.abort())
    await expect(camera.take({ signal: controller.signal })).rejects.toThrow('called off')
  })

  test('runs behind everybody else, and its folder and switches are its own', async () => {
    let words = ''
    await open((request, response) => {
      words = ofBrowsers((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).join()
      const priorities = () => ofBrowsers(getPriority)
      void until(() => priorities().every((one) => one === 19) || undefined, { what: 'the lowest priority' }).then(() =>
        html('<h1>x</h1>')(request, response),
      )
    })
    await camera.take()
    expect(words).toContain('--remote-debugging-pipe')
    expect(words).not.toContain('4680')
  })
})

/** What is so of each process of the browser; of those that end meanwhile nothing is. */
const ofBrowsers = <T>(look: (pid: number) => T): T[] =>
  browsersOf(camera.data_dir).flatMap((pid) => {
    try {
      return [look(Number(pid))]
    } catch {
      return []
    }
  })

describe('a browser that is none', () => {
  const fake = (text: string): string => {
    const path = join(camera.data_dir, 'fake')
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }

  test('one that hangs is given up, and ended', async () => {
    await open(html('x'), { limits: { start_ms: 500 } })
    const chromium = fake('sleep 1000; exit')
    const { screenshotter } = await setUp(html('x'), { limits: { start_ms: 500 }, chromium })
    const shot = {
      url: camera.url,
      door: { host: '127.0.0.1', port: 1 },
      headers: {},
      variants: ['desktop' as const],
      signal: new AbortController().signal,
    }
    await expect(collect(screenshotter.take(shot))).rejects.toThrow(/did not start.*did not come up within 0.5 s/)
    await until(() => browsersOf(chromium).length === 0 || undefined, { what: 'its end' })
    await camera.close()
  })

  test('one that ends says its last words', async () => {
    await open(html('x'))
    const { screenshotter } = await setUp(html('x'), { chromium: fake('echo No usable sandbox >&2; exit 1') })
    const shot = {
      url: camera.url,
      door: { host: '127.0.0.1', port: 1 },
      headers: {},
      variants: ['desktop' as const],
      signal: new AbortController().signal,
    }
    await expect(collect(screenshotter.take(shot))).rejects.toThrow('No usable sandbox')
    await camera.close()
  })

  test('none at all', async () => {
    await open(html('x'), { chromium: 'off' })
    expect(camera.screenshotter.name()).toBeNull()
    await expect(camera.take()).rejects.toThrow('no Chromium')
    expect(existsSync(join(camera.data_dir, 'browser'))).toBe(false)
    await camera.close()
  })
})
