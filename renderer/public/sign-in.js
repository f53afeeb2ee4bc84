// Beside the pages of /sign-in, /verify and /join: keeps the session that such a page brings in the storage of this origin, which no app on
// another port can read, or sends the form of a link that the person opened themselves.
const session = document.getElementById('session')?.value
if (session) {
  localStorage.setItem('homeport.session', session)
  location.replace('/app/')
} else document.querySelector('form[data-sends-itself]')?.requestSubmit()
