"""The admin site's own name and look: wide lists, so no sidebar beside them."""

from django.contrib import admin

admin.site.site_header = "Knowlex"
admin.site.site_title = "Knowlex"
admin.site.index_title = "Knowledge base"
admin.site.site_url = "/"
admin.site.index_template = "admin/rag/dashboard.html"
admin.site.enable_nav_sidebar = False
