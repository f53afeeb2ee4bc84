// Before the first paint, so that a chosen theme does not flash: the page's own script comes a moment too late for that.
try {
  const theme = localStorage.getItem('homeport.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // A browser that keeps nothing has no choice to show.
}
// The page of another instance does not begin in the colours of this one.
if (location.pathname.startsWith('/app/on/')) document.documentElement.dataset.elsewhere = ''

// Chromium gives up on requests while network interfaces come and go, as they do when containers start. A page whose own script was lost
// that way stays empty: it is loaded once more.
addEventListener(
  'error',
  ({ target }) => {
    const [navigation] = performance.getEntriesByType('navigation')
    if (target instanceof HTMLScriptElement && navigation?.type !== 'reload') location.reload()
  },
  true,
)
