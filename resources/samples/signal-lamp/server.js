import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { spell } from './morse.js'

const page = await readFile(new URL('page.html', import.meta.url))
const beat_ms = 110
const longest = 60
let sent = 0

const server = createServer(async (request, response) => {
  if (request.method === 'POST' && request.url === '/send') {
    const text = (await bodyOf(request)).trim().toUpperCase().slice(0, longest)
    const letters = spell(text)
    if (letters.length === 0) return answer(response, 400, { error: 'Letters A to Z and digits, please.' })
    answer(response, 200, { number: ++sent, beat_ms, letters })
    return flash(sent, letters)
  }
  if (request.method !== 'GET' || request.url !== '/') return answer(response, 404, { error: 'There is only the lamp here.' })
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
})

/** What the lamp does goes into the log as it happens: open Logs beside it. */
async function flash(number, letters) {
  console.log(`\x1b[36mmessage ${number}\x1b[0m ${letters.map(({ letter }) => letter).join('')}`)
  for (const { letter, signs } of letters) {
    if (signs !== '') console.log(`  \x1b[1m${letter}\x1b[0m \x1b[33m${[...signs].map((sign) => (sign === '-' ? '━━━' : '●')).join(' ')}\x1b[0m`)
    await new Promise((wake) => setTimeout(wake, beat_ms * (3 + [...signs].reduce((beats, sign) => beats + (sign === '-' ? 4 : 2), 0))))
  }
  console.log(`\x1b[32mmessage ${number} is out\x1b[0m`)
}

async function bodyOf(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) if (text.length < 1_000) text += chunk
  return text
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

// Homeport says by PORT where it looks for the app.
server.listen(process.env.PORT ?? 3000, () => console.log(`The lamp is lit at port ${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
