import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { sendLinksOut } from './features/frame/outside.ts'
import { applyTheme, useUi } from './stores/ui.ts'
import './ui/tokens.css'
import './ui/base.css'
import './ui/forced-colors.css'

applyTheme(useUi.getState().theme)
sendLinksOut()

// After an upgrade the parts that this page would load later have other names: the new page knows them. Once, lest it turn in circles.
// While nothing answers it stays: a reload would leave the browser's own error page.
window.addEventListener('vite:preloadError', () => {
  if (performance.now() > 5_000)
    fetch(location.href).then(
      () => location.reload(),
      () => undefined,
    )
})

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
