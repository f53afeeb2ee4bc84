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

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
