const ships = ['Aurora', 'Bris', 'Havsule', 'Ingeborg', 'Lodd', 'Meridian', 'Nordlys', 'Petrel', 'Solveig', 'Terne']
const cargo = ['herring', 'timber', 'letters', 'salt', 'pianos', 'apples', 'rope', 'nothing but good news']
const weather = ['Fresh breeze from the west', 'Fog until noon', 'Clear, and cold enough for gloves', 'Showers, with a rainbow towards evening']

export function frontPage(edition, now) {
  const pick = (list, step) => list[(edition * 7 + step * 3) % list.length]
  const arrivals = [0, 1, 2, 3].map((step) => `<li><b>${pick(ships, step)}</b> with ${pick(cargo, step)}</li>`).join('')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Harbour news</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0 auto; padding: 5vh 24px; max-width: 820px; background: #faf6ec; color: #221d14; font: 18px/1.55 Georgia, 'Times New Roman', serif }
h1 { margin: 0; font-size: clamp(40px, 9vw, 92px); line-height: 1; letter-spacing: -0.03em; text-align: center }
.line { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 20px; margin: 16px 0 26px; padding: 8px 0; border-block: 2px solid }
main { display: grid; gap: 26px 40px; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)) }
h2 { margin: 0 0 6px; font-size: 25px; line-height: 1.15 } p, ul { margin: 0 } ul { padding-left: 1.1em }
aside { grid-column: 1 / -1; padding: 18px 22px; border-radius: 12px; background: #221d14; color: #faf6ec; font: 16px/1.5 system-ui, sans-serif }
aside b { font-size: 21px } button { padding: 8px 14px; border: 0; border-radius: 8px; background: #f4c95d; color: #221d14; font: inherit; cursor: pointer }
aside > * + * { margin-top: 10px } code { font: 0.9em ui-monospace, monospace } .HIT { color: #8fe3b0 } .MISS { color: #f4c95d }
</style>
<h1>Harbour news</h1>
<p class="line"><span>Edition ${edition}</span><span>rendered at ${now.toISOString().slice(11, 19)} UTC</span></p>
<main>
<section><h2>${pick(weather, 1)}</h2><p>The harbour master confirms it after a look out of the window.</p></section>
<section><h2>Arrivals</h2><ul>${arrivals}</ul></section>
<aside>
<div role="status"><b id="result">Reload the page to see where it comes from.</b><div id="detail"></div></div>
<button type="button">Reload</button>
<p>MISS: the app rendered the page, which takes a second. HIT: Homeport served it from its cache, without a request to the app.
For a new edition, purge the tag <code>front-page</code> in Homeport under Cache.</p>
</aside>
</main>
<script>
document.querySelector('button').addEventListener('click', async () => {
  const began = performance.now()
  const answer = await fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } })
  const text = await answer.text()
  const took = Math.round(performance.now() - began)
  const result = answer.headers.get('x-cache') ?? 'No cache'
  const shown = document.getElementById('result')
  shown.textContent = result + ' in ' + took + ' ms'
  shown.className = result
  document.getElementById('detail').textContent = 'Edition ' + (/Edition (\\d+)/.exec(text)?.[1] ?? '?') + (answer.headers.has('age') ? ', ' + answer.headers.get('age') + ' s old' : '')
})
</script>
</html>`
}
