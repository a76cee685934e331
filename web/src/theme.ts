// Sets the theme before anything is drawn. It is a file of its own because it must run before the page is read.
let theme = '';
try {
  theme = localStorage.getItem('leasehold-theme') ?? '';
} catch {
  // Without storage the system's theme counts.
}
if (theme !== 'light' && theme !== 'dark') theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
document.documentElement.dataset['theme'] = theme;
