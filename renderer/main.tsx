import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { interceptExternalLinks } from './lib/external-links.ts'
import { applyTheme, useUi } from './stores/ui.ts'
import './components/fonts.css'
import './components/tokens.css'
import './components/base.css'
import './components/forced-colors.css'

applyTheme(useUi.getState().theme)
interceptExternalLinks()

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
