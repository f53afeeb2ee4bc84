import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const { hull } = JSON.parse(await readFile(new URL('boat.json', import.meta.url), 'utf8'))
const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A boat that floats</title>
<link rel="icon" href="data:,">
<style>
body { display: grid; place-items: center; min-height: 100dvh; margin: 0; overflow: hidden; background: linear-gradient(#dcecf2 58%, #1f6f82 58%); font: 18px/1.5 system-ui, sans-serif; color: #0d2c36 }
main { display: grid; justify-items: center; gap: 4px; padding: 24px; text-align: center } h1 { margin: 0; font-size: clamp(32px, 7vw, 58px); letter-spacing: -0.03em }
p { margin: 0 } svg { width: min(62vw, 330px); animation: sway 5s ease-in-out infinite; transform-origin: 50% 90% }
@keyframes sway { 50% { transform: rotate(3deg) translateY(5px) } 0%, 100% { transform: rotate(-3deg) } }
@media (prefers-reduced-motion: reduce) { svg { animation: none } }
</style>
<main>
<h1>She floats</h1>
<p>Her hull is made of <b>${escape(hull)}</b>, without a leak.</p>
<svg viewBox="0 0 200 170" aria-hidden="true"><path d="M100 8v112" stroke="#5b3a1e" stroke-width="5"/><path d="M106 16c46 22 58 58 56 92h-56Z" fill="#fff"/><path d="M94 30c-32 18-42 46-44 78h44Z" fill="#f3e3c3"/><path d="M22 122h156c-8 26-24 38-44 38H66c-20 0-36-12-44-38Z" fill="#8c4a22"/></svg>
</main>
</html>`

const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page))
server.listen(process.env.PORT ?? 3000, process.env.HOST, () => console.log(`Listening on port ${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
