try{let e=localStorage.getItem("leasehold-theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e)}catch{}
